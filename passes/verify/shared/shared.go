// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package shared checks individual accesses to shared memory: whether they are in bounds and
// aligned, and whether the memory that they read is ever written.
package shared

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for bounds, alignment and initialization of shared memory.
var Analyzer = &verify.Analyzer{
	Name: "shared",
	Doc: `Shared reports loads and stores past the end of an array in shared memory, misaligned
accesses, and loads of shared memory that no instruction of the kernel writes. It checks only
addresses that depend on the thread index and constants, on paths that depend on neither
parameters nor data.`,
	Rules:    diag.Rules{ruleBounds, ruleAlign, ruleUnwritten},
	Pages:    pages,
	Requires: []trace.Kind{trace.Load, trace.Store, trace.Atomic},
	Run:      run,
}

func run(p *verify.Pass) {
	seen := make(map[*ir.Instr]bool) // instructions that have a finding or are correct
	w, plain := findWritten(p, false), findWritten(p, true)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if !isChecked(e) || seen[e.In] {
				continue
			}
			r, ok := p.Access(e)
			if !ok || !r.Sure || !isUnconditional(t, i) {
				continue
			}
			seen[e.In] = check(p, t, i, &r) || w.checkLoad(p, t, i, &r) ||
				e.Kind == trace.Atomic && accumulates(e.In) && plain.checkLoad(p, t, i, &r)
		}
	}
}

// isChecked reports whether an event is a load, store or atomic operation that this package
// checks.
func isChecked(e *trace.Event) bool {
	switch e.Kind {
	case trace.Load, trace.Store, trace.Atomic:
		return e.Guard == nil
	}
	return false
}

// isUnconditional reports whether an event executes regardless of parameters and data: only the
// thread index and waits decide the path to the event.
func isUnconditional(t *trace.Trace, i int) bool {
	if t.Facts.With != "" {
		return false
	}
	for _, c := range t.Choices {
		if c.At > i {
			break
		}
		if a, _ := c.Cond.Condition(); a != nil && !a.Tid && a.Op != value.OpDone {
			return false
		}
	}
	return true
}

// check reports an access that is out of bounds or misaligned, and returns whether it did.
func check(p *verify.Pass, t *trace.Trace, i int, r *memory.Region) bool {
	e, v := &t.Events[i], r.Var()
	if v == nil || verify.Open(v) {
		return false
	}
	var f *verify.Finding
	starts := r.Starts()
	if size := v.Size(); r.Low < 0 || r.High > size {
		at := starts[len(starts)-1]
		if r.Low < 0 {
			at = starts[0]
		}
		f = p.Report(&ruleBounds, e.In, "out of bounds: %s accesses byte %d of %s, which has %d "+
			"bytes", e.In.Head(), outsideByte(at, r.Bytes, size), variableName(v), size)
	} else if n := requiredAlignment(e.In, r.Bytes); int64(v.Alignment())%n == 0 {
		for _, at := range starts {
			if at%n != 0 {
				f = p.Report(&ruleAlign, e.In, "misaligned address: %s accesses byte %d of %s, "+
					"which is not a multiple of %d", e.In.Head(), at, variableName(v), n)
				break
			}
		}
	}
	if f == nil {
		return false
	}
	if !p.Pool.Exact || p.Guessed {
		f.As(diag.Review).Message += fmt.Sprintf(", if blocks have %d threads", p.Pool.Threads)
	}
	f.On(t, i)
	return true
}

// outsideByte returns a byte outside an array of the given size that an access touches.
func outsideByte(at, bytes, size int64) int64 {
	if at < 0 {
		return at
	}
	return max(at, min(size, at+bytes-1))
}

// requiredAlignment returns the required alignment in bytes of the address of an access.
func requiredAlignment(in *ir.Instr, bytes int64) int64 {
	if head := in.Kind(); head == isa.KindLdmatrix || head == isa.KindStmatrix {
		return 16
	}
	n := int64(1)
	for n*2 <= bytes && bytes%(n*2) == 0 {
		n *= 2
	}
	return n
}

// variableName returns the name of a variable for messages. Arrays of the builder have no name
// until the PTX text is written.
func variableName(v *ir.Var) string {
	if strings.TrimSpace(v.Name) == "" {
		return "an array"
	}
	return v.Name
}
