// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package mutants breaks kernels that are right, one line at a time, to see what the analyzers say: a
// fence, an arrival, a wait or a commit is dropped, a count, a parity, a number of bytes, a scope or a
// predicate is changed, two lines are swapped. The choice of mutants follows from a seed.
package mutants

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Mutant is a text with one thing wrong.
type Mutant struct {
	Kind string // drop, count, parity, bytes, scope, predicate, swap
	Line int    // where, counted from 1
	What string // what was done
	Text string
}

// Of is up to n mutants of a text, spread over the kinds.
func Of(text string, seed uint64, n int) []Mutant {
	lines := strings.Split(text, "\n")
	byKind := make(map[string][]Mutant)
	add := func(kind string, line, taken int, what string, edited ...string) {
		out := slices.Concat(lines[:line], edited, lines[line+taken:])
		byKind[kind] = append(byKind[kind], Mutant{kind, line + 1, what, strings.Join(out, "\n")})
	}
	for i, line := range lines {
		mutate(lines, i, line, add)
	}
	return choose(byKind, seed, n)
}

// choose takes mutants of each kind in turn, in an order that the seed gives.
func choose(byKind map[string][]Mutant, seed uint64, n int) []Mutant {
	r := rand.New(rand.NewPCG(seed, 1))
	kinds := []string{"drop", "count", "parity", "bytes", "scope", "predicate", "swap"}
	for _, k := range kinds {
		list := byKind[k]
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	var out []Mutant
	for left := true; left && len(out) < n; {
		left = false
		for _, k := range kinds {
			// Half of all are things that were dropped.
			take := 1
			if k == "drop" {
				take = 3
			}
			for range take {
				if len(byKind[k]) > 0 && len(out) < n {
					out = append(out, byKind[k][0])
					byKind[k] = byKind[k][1:]
					left = true
				}
			}
		}
	}
	return out
}

var (
	droppable = regexp.MustCompile(`^\s*(@!?%\w+\s+)?(fence\.|mbarrier\.(arrive|init|expect)|cp\.async\.(commit|wait|bulk\.(commit|wait))|bar\.sync|bar\.warp|barrier\.|wgmma\.(fence|commit|wait)|tcgen05\.(fence|wait|commit|dealloc|relinquish)|setmaxnreg|griddepcontrol)`)
	number    = regexp.MustCompile(`(,\s*|\s)(\d+);\s*$`)
	parity    = regexp.MustCompile(`^\s*mov\.b32\s+%\w*parity\w*, ([01]);`)
	flip      = regexp.MustCompile(`^\s*@%\w+ xor\.b32\s+(%\w+), %\w+, 1;`)
	guard     = regexp.MustCompile(`^(\s*)@(!?)(%\w+)(\s+)(.*)$`)
)

func mutate(lines []string, i int, line string, add func(kind string, line, taken int, what string, edited ...string)) {
	op := strings.TrimSpace(line)
	if strings.HasPrefix(op, "//") || op == "" {
		return
	}
	sync := droppable.MatchString(line)
	if sync && strings.HasSuffix(op, ";") {
		add("drop", i, 1, "dropped: "+op)
	}
	if strings.Contains(op, "mbarrier.try_wait") && i+1 < len(lines) && strings.Contains(lines[i+1], "bra") {
		add("drop", i, 2, "dropped, with its loop: "+op)
	}
	if m := number.FindStringSubmatchIndex(line); m != nil {
		n, _ := strconv.Atoi(line[m[4]:m[5]])
		change := func(kind string, to int) {
			add(kind, i, 1, fmt.Sprintf("%d to %d: %s", n, to, op), line[:m[4]]+strconv.Itoa(to)+line[m[5]:])
		}
		switch {
		case strings.Contains(op, "mbarrier.init"):
			change("count", n+1)
		case strings.HasPrefix(op, "bar.sync") && n >= 64:
			change("count", n-32)
		case strings.Contains(op, "wait_group"):
			change("count", n+1)
		case strings.Contains(op, "expect_tx"):
			change("bytes", n+16)
			change("bytes", n/2)
		case strings.HasPrefix(op, "setmaxnreg.inc") && n < 256:
			change("count", n+8)
		}
	}
	if m := parity.FindStringSubmatchIndex(line); m != nil {
		to := "1"
		if line[m[2]:m[3]] == "1" {
			to = "0"
		}
		add("parity", i, 1, "to "+to+": "+op, line[:m[2]]+to+line[m[3]:])
	}
	if flip.MatchString(line) {
		add("parity", i, 1, "not flipped: "+op)
	}
	for _, s := range [][2]string{{"fence.proxy.async.shared::cta", "fence.proxy.async.global"}, {".release.cluster.shared::cluster", ".release.cta.shared::cluster"}, {"wait_group.read", "wait_group"}, {"wait::ld", "wait::st"}} {
		if strings.Contains(line, s[0]) && s[0] != "wait_group.read" {
			add("scope", i, 1, s[0]+" to "+s[1]+": "+op, strings.Replace(line, s[0], s[1], 1))
		}
	}
	if m := guard.FindStringSubmatch(line); m != nil && (sync || strings.Contains(m[5], "cp.async.bulk")) {
		not := "!"
		if m[2] == "!" {
			not = ""
		}
		add("predicate", i, 1, "opposite: "+op, m[1]+"@"+not+m[3]+m[4]+m[5])
		add("predicate", i, 1, "none: "+op, m[1]+m[5])
	}
	if i+1 < len(lines) && sync && strings.HasSuffix(op, ";") {
		next := strings.TrimSpace(lines[i+1])
		if strings.HasSuffix(next, ";") && !strings.HasPrefix(next, "//") && !strings.Contains(next, "bra") && next != op {
			add("swap", i, 2, "swapped with the next: "+op, lines[i+1], line)
		}
	}
}
