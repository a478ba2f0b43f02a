// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A lifetime tracks the mbarriers of a trace from their initialization to their invalidation.
type lifetime struct {
	p           *verify.Pass
	t           *trace.Trace
	initialized map[verify.Object]*initialization
	used        map[verify.Object]bool
	invalidates bool // the kernel invalidates some mbarrier
	syncs       int  // number of block barriers before the current event

	valid, invalidated map[verify.Object]*ir.Instr // the init or inval of each mbarrier
	// inFlight holds a copy that completes on the mbarrier and was not waited for.
	inFlight map[verify.Object]*ir.Instr
}

// checkLifetime reports mbarriers that are initialized twice, and other writes that overwrite
// mbarriers.
func checkLifetime(p *verify.Pass, t *trace.Trace, initialized map[verify.Object]*initialization,
	used map[verify.Object]bool) {
	l := &lifetime{
		p: p, t: t, initialized: initialized, used: used, invalidates: p.Needs(trace.Inval),
		valid: make(map[verify.Object]*ir.Instr), invalidated: make(map[verify.Object]*ir.Instr),
		inFlight: make(map[verify.Object]*ir.Instr),
	}
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.BarrierSync, trace.ClusterWait:
			if p.Everyone(e) {
				l.syncs++
				clear(l.inFlight) // another thread may have waited for the copies
			}
		case trace.Init:
			l.checkInit(i)
		case trace.Inval:
			l.checkInval(i)
		case trace.Store, trace.Clear, trace.BulkLoad, trace.Copy:
			l.checkWrite(i)
		default:
			l.checkUse(i)
		}
	}
}

// checkInit reports an mbarrier that is initialized again without mbarrier.inval.
func (l *lifetime) checkInit(i int) {
	e := &l.t.Events[i]
	list, ok := l.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	if !ok {
		clear(l.invalidated) // the event may initialize any of them
	}
	for _, o := range list {
		if (e.Threads.And(l.t.Threads) == value.Set{}) {
			// Other threads initialized the mbarrier before the paths split, and invalidate it on
			// their path.
			continue
		}
		if was := l.valid[o.Object]; was != nil {
			f := l.p.Report(&ruleLife, e.In, "mbarrier is initialized twice without "+
				"mbarrier.inval in between").Also(was, "first initialized here").On(l.t, i)
			if !l.used[o.Object] {
				f.As(diag.Review) // neither of the two mbarriers is used
			}
		}
		l.valid[o.Object] = e.In
		delete(l.invalidated, o.Object)
	}
}

// checkInval reports an mbarrier that is invalidated before its copies complete.
func (l *lifetime) checkInval(i int) {
	e := &l.t.Events[i]
	list, ok := l.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	if !ok {
		clear(l.valid) // the event may invalidate any of them
	}
	for _, o := range list {
		if in := l.inFlight[o.Object]; in != nil && o.Rank == nil {
			l.p.Report(&ruleLife, e.In,
				"mbarrier is invalidated while a copy that completes on it is in flight").
				Also(in, "the copy").On(l.t, i)
		}
		delete(l.inFlight, o.Object)
		delete(l.valid, o.Object)
		l.invalidated[o.Object] = e.In
	}
}

// checkWrite reports a write to the memory of an mbarrier.
func (l *lifetime) checkWrite(i int) {
	p, e := l.p, &l.t.Events[i]
	regions := p.Writes(e)
	if r, ok := p.Access(e); ok && (e.Kind == trace.Store || e.Kind == trace.Clear) && r.Shared() {
		regions = append(regions, r)
	}
	if e.Kind == trace.BulkLoad {
		if list, ok := p.Objects(e, verify.Val(e, verify.Target(e))); ok && len(list) == 1 {
			l.inFlight[list[0].Object] = e.In
		}
	}
	for k := range regions {
		for o, in := range l.valid {
			checkOverwrite(p, l.t, i, &regions[k], o, in, l.used)
		}
		for o, b := range l.initialized {
			// Other threads initialized the mbarrier. One of them may have invalidated it if it
			// has passed a barrier since then.
			if b.by.And(l.t.Threads) == (value.Set{}) && !l.invalidates &&
				(e.Kind == trace.BulkLoad || l.syncs > b.syncs) {
				checkOverwrite(p, l.t, i, &regions[k], o, b.e.In, l.used)
			}
		}
	}
}

// checkUse reports a use of an mbarrier after its invalidation.
func (l *lifetime) checkUse(i int) {
	e := &l.t.Events[i]
	n := verify.Target(e)
	if n < 0 {
		return
	}
	list, ok := l.p.Objects(e, verify.Val(e, n))
	if e.Kind == trace.Wait && !ok {
		clear(l.inFlight)
	}
	for _, o := range list {
		if e.Kind == trace.Wait {
			delete(l.inFlight, o.Object)
		}
		if in := l.invalidated[o.Object]; in != nil && o.Rank == nil {
			l.p.Report(&ruleLife, e.In, "mbarrier is used after mbarrier.inval").
				Also(in, "invalidated here").On(l.t, i)
		}
	}
}

// usedMbarriers returns the mbarriers that an instruction other than init and inval uses.
func usedMbarriers(p *verify.Pass) map[verify.Object]bool {
	used := make(map[verify.Object]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if n := verify.Target(e); n >= 0 && e.Kind != trace.Init && e.Kind != trace.Inval {
				list, _ := p.Objects(e, verify.Val(e, n))
				for _, o := range list {
					used[o.Object] = true
				}
			}
		}
	}
	return used
}

// checkOverwrite reports a write that overwrites a valid mbarrier.
func checkOverwrite(p *verify.Pass, t *trace.Trace, i int, r *memory.Region, o verify.Object,
	made *ir.Instr, used map[verify.Object]bool) {
	if sure, _ := r.Meets(&memory.Region{Root: o.Root, Low: o.At, High: o.At + 8, Sure: true,
		Bytes: 8, Solid: true}); !sure {
		return
	}
	f := p.Report(&ruleLife, t.Events[i].In, "%s overwrites an mbarrier: it writes bytes %d to "+
		"%d of shared memory, and the mbarrier is at byte %d", t.Events[i].In.Op, r.Low, r.High-1,
		o.At).
		Also(made, "the mbarrier is initialized here").On(t, i)
	if !used[o] {
		f.As(diag.Review) // the mbarrier is never used
	}
}
