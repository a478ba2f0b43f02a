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
	ends        bool // the kernel invalidates mbarriers
	syncs       int

	alive, dead map[verify.Object]*ir.Instr // by their initialization or invalidation
	flying      map[verify.Object]*ir.Instr // copies that complete on an mbarrier, until a wait
}

// life reports mbarriers that are initialized twice, and other accesses that overwrite them.
func life(p *verify.Pass, t *trace.Trace, initialized map[verify.Object]*initialization,
	used map[verify.Object]bool) {
	l := &lifetime{
		p: p, t: t, initialized: initialized, used: used, ends: p.Needs(trace.Inval),
		alive: make(map[verify.Object]*ir.Instr), dead: make(map[verify.Object]*ir.Instr),
		flying: make(map[verify.Object]*ir.Instr),
	}
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.BarrierSync, trace.ClusterWait:
			if p.Everyone(e) {
				l.syncs++
				clear(l.flying) // another thread may have waited
			}
		case trace.Init:
			l.initialize(i)
		case trace.Inval:
			l.invalidate(i)
		case trace.Store, trace.Clear, trace.BulkLoad, trace.Copy:
			l.write(i)
		default:
			l.use(i)
		}
	}
}

// initialize reports an mbarrier that is initialized twice.
func (l *lifetime) initialize(i int) {
	e := &l.t.Events[i]
	list, ok := l.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	if !ok {
		clear(l.dead) // any of them may be initialized again
	}
	for _, o := range list {
		if (e.Threads.And(l.t.Threads) == value.Set{}) {
			// Other threads initialized it before the paths split; it is invalidated on their path.
			continue
		}
		if was := l.alive[o.Object]; was != nil {
			f := l.p.Report(&ruleLife, e.In, "mbarrier is initialized twice without "+
				"mbarrier.inval in between").Also(was, "first initialized here").On(l.t, i)
			if !l.used[o.Object] {
				f.As(diag.Review) // neither mbarrier is ever used
			}
		}
		l.alive[o.Object] = e.In
		delete(l.dead, o.Object)
	}
}

// invalidate reports an mbarrier that is invalidated before its copies complete.
func (l *lifetime) invalidate(i int) {
	e := &l.t.Events[i]
	list, ok := l.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	if !ok {
		clear(l.alive) // any of them may be invalidated
	}
	for _, o := range list {
		if in := l.flying[o.Object]; in != nil && o.Rank == nil {
			l.p.Report(&ruleLife, e.In,
				"mbarrier is invalidated while a copy that completes on it is in flight").
				Also(in, "the copy").On(l.t, i)
		}
		delete(l.flying, o.Object)
		delete(l.alive, o.Object)
		l.dead[o.Object] = e.In
	}
}

// write reports a write to the memory of an mbarrier.
func (l *lifetime) write(i int) {
	p, e := l.p, &l.t.Events[i]
	regions := p.Writes(e)
	if r, ok := p.Access(e); ok && (e.Kind == trace.Store || e.Kind == trace.Clear) && r.Shared() {
		regions = append(regions, r)
	}
	if e.Kind == trace.BulkLoad {
		if list, ok := p.Objects(e, verify.Val(e, verify.Target(e))); ok && len(list) == 1 {
			l.flying[list[0].Object] = e.In
		}
	}
	for k := range regions {
		for o, in := range l.alive {
			checkOverwrite(p, l.t, i, &regions[k], o, in, l.used)
		}
		for o, b := range l.initialized {
			// Other threads initialized it; one that has passed a barrier since may have
			// invalidated it.
			if b.by.And(l.t.Threads) == (value.Set{}) && !l.ends &&
				(e.Kind == trace.BulkLoad || l.syncs > b.syncs) {
				checkOverwrite(p, l.t, i, &regions[k], o, b.e.In, l.used)
			}
		}
	}
}

// use reports a use of an mbarrier that is invalidated.
func (l *lifetime) use(i int) {
	e := &l.t.Events[i]
	n := verify.Target(e)
	if n < 0 {
		return
	}
	list, ok := l.p.Objects(e, verify.Val(e, n))
	if e.Kind == trace.Wait && !ok {
		clear(l.flying)
	}
	for _, o := range list {
		if e.Kind == trace.Wait {
			delete(l.flying, o.Object)
		}
		if in := l.dead[o.Object]; in != nil && o.Rank == nil {
			l.p.Report(&ruleLife, e.In, "mbarrier is used after mbarrier.inval").
				Also(in, "invalidated here").On(l.t, i)
		}
	}
}

// inUse returns the mbarriers with arrivals or waits.
func inUse(p *verify.Pass) map[verify.Object]bool {
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
		f.As(diag.Review) // it is never used
	}
}
