// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// print prints the kernels of a file as a table, with remarks below each line.
func (r *statsResult) print(w io.Writer, more bool) {
	if len(r.kernels) == 0 {
		fmt.Fprintf(w, "%s: no kernels\n", r.name)
		return
	}
	width := len("kernel")
	for i := range r.kernels {
		width = max(width, min(40, len(r.kernels[i].Func.Name)))
	}
	fmt.Fprintf(w, "%s, %s\n", r.name, r.module.Target)
	fmt.Fprintf(w, "  %-*s     registers  limit  threads     warps  hottest line\n", width,
		"kernel")
	for i := range r.kernels {
		k := &r.kernels[i]
		fmt.Fprintf(w, "  %-*s  %12s  %5s  %7s  %3d of %2d  %s\n", width, k.Func.Name,
			registerCount(k), numberOr(k.Limit), numberOr(k.Threads),
			k.Occupancy.Warps, k.Occupancy.Of, r.hottest(k))
		r.remarks(w, k, more)
	}
	switch estimated := slices.ContainsFunc(r.kernels, func(k pressure.Kernel) bool {
		return !k.Exact
	}); {
	case r.refused != "":
		fmt.Fprintf(w, "  register counts are estimates, since ptxas rejects the module: %s\n",
			r.refused)
	case estimated:
		fmt.Fprintf(w,
			"  register counts are estimates; the true count is in the range for nine of ten kernels\n")
	}
}

// registerCount formats a register count, or an estimate with its range, such as ~72 (64-88).
func registerCount(k *pressure.Kernel) string {
	if k.Exact || k.Low == k.High {
		return fmt.Sprint(k.Registers)
	}
	return fmt.Sprintf("~%d (%d-%d)", k.Registers, k.Low, k.High)
}

func numberOr(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// hottest describes the instruction at which the most registers are live.
func (r *statsResult) hottest(k *pressure.Kernel) string {
	if k.Peak.Instr == nil {
		return "-"
	}
	from := ""
	if at := r.origin(k.Peak.Instr); at != "" {
		from = " of " + at
	}
	return fmt.Sprintf("%d: %s%s, %d live", r.line(k.Peak.Instr), k.Peak.Instr.Op, from,
		k.Peak.Words)
}

// remarks prints the remarks below the line of a kernel.
func (r *statsResult) remarks(w io.Writer, k *pressure.Kernel, more bool) {
	if k.Occupancy.Warps == 0 {
		fmt.Fprintf(w,
			"    cannot be launched: the kernel uses so much %s that no block of %d threads fits on a multiprocessor\n",
			k.Occupancy.Bound, k.Threads)
	}
	if k.Spills && k.Exact {
		fmt.Fprintf(w, "    spills: the kernel needs more registers than a thread may have\n")
	} else if k.Spills {
		most, by := k.Limit, "its directives allow"
		if most == 0 {
			most, by = 255, "a thread can have"
		}
		fmt.Fprintf(w, "    may spill: at least %d registers are live at once, %s %d\n", k.Least,
			by, most)
	}
	if more && len(k.Peak.Live) > 0 {
		fmt.Fprintf(w, "    live at line %d: %s\n", r.line(k.Peak.Instr),
			strings.Join(wrapText(liveWords(k.Peak.Live), 90), "\n      "))
	}
	r.budgets(w, k)
}

// liveWords formats a list of live registers, with the number of words of those that have
// several.
func liveWords(list []pressure.Live) string {
	words := make([]string, len(list))
	for i, l := range list {
		words[i] = l.Reg.Name
		if l.Words > 1 {
			words[i] += fmt.Sprintf("*%d", l.Words)
		}
	}
	return strings.Join(words, " ")
}

// budgets prints how setmaxnreg distributes the registers of a kernel.
func (r *statsResult) budgets(w io.Writer, k *pressure.Kernel) {
	b := k.Budgets
	if len(b.Roles) == 0 {
		return
	}
	if k.Limit == 0 || b.Groups == 0 {
		fmt.Fprintf(w, "    setmaxnreg: the register count at launch is unknown; declare "+
			".maxnreg, or .reqntid with whole warpgroups\n")
	} else {
		fmt.Fprintf(w, "    setmaxnreg: %d warpgroups * 128 threads * %d = %d registers at "+
			"launch\n", b.Groups, k.Registers, b.Pool(k.Registers))
	}
	for _, role := range b.Roles {
		verb := "release"
		if role.Takes {
			verb = "take"
		}
		note := ""
		switch {
		case !role.Valid:
			note = "; not a multiple of 8 from 24 to 256"
		case role.Words > role.Count:
			note = "; may spill"
		}
		fmt.Fprintf(w, "      line %d: %s until %d per thread, %d per warpgroup; %d live from "+
			"here on%s\n", r.line(role.Instr), verb, role.Count, 128*role.Count, role.Words, note)
	}
	if k.Limit == 0 || b.Groups == 0 {
		return
	}
	shares := b.Shares(k.Registers)
	if len(shares) == 0 {
		fmt.Fprintf(w, "      no assignment of %d warpgroups to these budgets fits into %d "+
			"registers\n", b.Groups, b.Pool(k.Registers))
	}
	for _, s := range shares {
		var parts []string
		for i, n := range s.Groups {
			parts = append(parts, fmt.Sprintf("%d at %d", n, b.Roles[i].Count))
		}
		fmt.Fprintf(w, "      fits: %s, %d registers, %d left\n", strings.Join(parts, ", "),
			s.Words, b.Pool(k.Registers)-s.Words)
	}
}
