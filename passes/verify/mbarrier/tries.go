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

// tries reports try_wait and test_wait whose result is ignored.
func tries(p *verify.Pass, t *trace.Trace, heeded *heededWaits) {
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
		if !known && (heeded.waits[e.In] || guarded(t, e)) {
			continue // a try for an iteration that does not follow
		}
		f := p.Report(&ruleTry, e.In, "%s may return before the phase is complete, but the "+
			"kernel continues anyway", wait(e.In))
		if known || heeded.all(p, e) {
			f.As(diag.Review)
		}
		f.On(t, i)
	}
}

// heededWaits holds the waits whose result some threads use, and the phases that they wait for. The
// phases are added when they are computed.
type heededWaits struct {
	waits   map[*ir.Instr]bool
	objects map[verify.Object]bool
}

func heeded(p *verify.Pass) *heededWaits {
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

// all reports whether threads use the result of every wait that the event stands for. After loop
// peeling, the last iteration may contain a try_wait for an iteration that does not follow.
func (r *heededWaits) all(p *verify.Pass, e *trace.Event) bool {
	if r.objects == nil {
		r.objects = make(map[verify.Object]bool)
		for _, t := range p.Traces {
			for i := range t.Events {
				e := &t.Events[i]
				if e.Kind != trace.Wait || e.Done == nil {
					continue
				}
				if _, known := t.Facts.Decided(e.Done, *e.Threads); known {
					for _, o := range tried(p, e) {
						r.objects[o.Object] = true
					}
				}
			}
		}
	}
	list := tried(p, e)
	for _, o := range list {
		if !r.objects[o.Object] {
			return false
		}
	}
	return len(list) > 0
}

// tried returns the mbarriers that a wait may test.
func tried(p *verify.Pass, e *trace.Event) []verify.Touch {
	list, _ := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	return list
}

func wait(in *ir.Instr) string {
	if in.Kind() == isa.KindMbarrierTryWait || in.Kind() == isa.KindMbarrierTryWaitParity {
		return "mbarrier.try_wait"
	}
	return "mbarrier.test_wait"
}

// succeedsLater reports whether a later wait on the same mbarrier succeeds.
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

// guarded reports whether an event occurs only if a wait succeeded.
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

// restsOn reports whether a value depends on an atom.
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
