// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// tries looks for waits whose failure nobody heeds.
func tries(p *verify.Pass, t *trace.Trace, heeded map[*ir.Instr]bool) {
	if t.Stopped != "" {
		return
	}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != trace.Wait || e.Done == nil {
			continue
		}
		holds, known := t.Facts.Decided(e.Done, e.Threads)
		if known && holds || again(t, i) {
			continue
		}
		if !known && (heeded[e.In] || guarded(t, e)) {
			continue // a try ahead of a turn that did not come
		}
		f := p.Report(&ruleTry, e.In, "%s may come back before the phase is complete, and the kernel goes on all the same", wait(e.In))
		if known {
			f.As(diag.Review)
		}
		f.On(t, i)
	}
}

// heeded is the waits whose outcome some threads look at.
func heeded(p *verify.Pass) map[*ir.Instr]bool {
	found := make(map[*ir.Instr]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.Wait && e.Done != nil && !found[e.In] {
				_, found[e.In] = t.Facts.Decided(e.Done, e.Threads)
			}
		}
	}
	return found
}

func wait(in *ir.Instr) string {
	if strings.Contains(in.Op, "try_wait") {
		return "mbarrier.try_wait"
	}
	return "mbarrier.test_wait"
}

// again reports whether a later wait on the same object succeeds.
func again(t *trace.Trace, i int) bool {
	e := &t.Events[i]
	n := verify.Address(e.In, 0)
	for j := i + 1; j < len(t.Events); j++ {
		o := &t.Events[j]
		if o.Kind == trace.Wait && verify.Val(o, verify.Address(o.In, 0)) == verify.Val(e, n) {
			return true
		}
	}
	return false
}

// guarded reports whether something is done only where a wait succeeded.
func guarded(t *trace.Trace, e *trace.Event) bool {
	a, _ := e.Done.Condition()
	for i := range t.Events {
		if g := t.Events[i].Guard; g != nil && restsOn(g, a) {
			return true
		}
	}
	for _, c := range t.Choices {
		if restsOn(c.Cond, a) {
			return true
		}
	}
	return false
}

// restsOn reports whether a value is made from an atom.
func restsOn(v *value.Value, a *value.Atom) bool {
	for _, t := range terms(v) {
		if t.Atom == a {
			return true
		}
		for _, arg := range t.Atom.Args {
			if restsOn(arg, a) {
				return true
			}
		}
	}
	return false
}
