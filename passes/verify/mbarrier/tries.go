// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkTries reports try_wait and test_wait operations whose result is ignored.
func checkTries(p *verify.Pass, t *trace.Trace, heeded *heededWaits) {
	if t.Stopped != "" {
		return
	}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != trace.Wait || e.Done == nil {
			continue
		}
		holds, known := t.Facts.Decided(e.Done, *e.Threads)
		if known && holds || succeedsLater(t, i) {
			continue
		}
		if !known && (heeded.waits[e.In] || isGuarded(t, e)) {
			continue // the wait is for a loop iteration that is not executed
		}
		f := p.Report(&ruleTry, e.In, "%s may return before the phase is complete, but the "+
			"kernel continues anyway", waitName(e.In))
		if known || heeded.isHeeded(p, e) {
			f.As(diag.Review)
		}
		f.On(t, i)
	}
}

// heededWaits holds the waits whose result some threads use, and the mbarriers that they test.
// isHeeded fills objects when it is first called.
type heededWaits struct {
	waits   map[*ir.Instr]bool
	objects map[verify.Object]bool
}

func findHeeded(p *verify.Pass) *heededWaits {
	r := &heededWaits{waits: make(map[*ir.Instr]bool)}
	for _, t := range p.Traces {
		for i := range t.Events {
			if e := &t.Events[i]; e.Kind == trace.Wait && e.Done != nil && !r.waits[e.In] {
				_, r.waits[e.In] = t.Facts.Decided(e.Done, *e.Threads)
			}
		}
	}
	return r
}

// isHeeded reports whether threads use the result of a wait on every mbarrier that the event may
// test. After loop peeling, the last iteration may contain a try_wait for an iteration that is
// not executed.
func (r *heededWaits) isHeeded(p *verify.Pass, e *trace.Event) bool {
	if r.objects == nil {
		r.objects = make(map[verify.Object]bool)
		for _, t := range p.Traces {
			for i := range t.Events {
				e := &t.Events[i]
				if e.Kind != trace.Wait || e.Done == nil {
					continue
				}
				if _, known := t.Facts.Decided(e.Done, *e.Threads); known {
					for _, o := range testedMbarriers(p, e) {
						r.objects[o.Object] = true
					}
				}
			}
		}
	}
	list := testedMbarriers(p, e)
	for _, o := range list {
		if !r.objects[o.Object] {
			return false
		}
	}
	return len(list) > 0
}

// testedMbarriers returns the mbarriers that a wait may test.
func testedMbarriers(p *verify.Pass, e *trace.Event) []verify.Touch {
	list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	return list
}

func waitName(in *ir.Instr) string {
	if in.Kind() == isa.KindMbarrierTryWait || in.Kind() == isa.KindMbarrierTryWaitParity {
		return "mbarrier.try_wait"
	}
	return "mbarrier.test_wait"
}

// succeedsLater reports whether a later event waits on the same mbarrier.
func succeedsLater(t *trace.Trace, i int) bool {
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

// isGuarded reports whether some event or branch of the trace depends on the success of a wait.
func isGuarded(t *trace.Trace, e *trace.Event) bool {
	a, _ := e.Done.Condition()
	for i := range t.Events {
		if g := t.Events[i].Guard; g != nil && dependsOn(g, a) {
			return true
		}
	}
	for _, c := range t.Choices {
		if dependsOn(c.Cond, a) {
			return true
		}
	}
	return false
}

// dependsOn reports whether a value depends on an atom.
func dependsOn(v *value.Value, a *value.Atom) bool {
	for _, t := range terms(v) {
		if t.Atom == a {
			return true
		}
		for _, arg := range t.Atom.Args {
			if dependsOn(arg, a) {
				return true
			}
		}
	}
	return false
}
