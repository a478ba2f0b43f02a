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

// life reports mbarriers that are initialized twice, and other uses of their memory.
func life(p *verify.Pass, t *trace.Trace, births map[verify.Object]*birth, used map[verify.Object]bool) {
	alive := make(map[verify.Object]*ir.Instr)
	dead := make(map[verify.Object]*ir.Instr)
	flying := make(map[verify.Object]*ir.Instr) // copies that complete on an mbarrier, until a wait
	ends := p.Needs(trace.Inval)
	syncs := 0
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.BarrierSync, trace.ClusterWait:
			if p.Everyone(e) {
				syncs++
				clear(flying) // another thread may have waited
			}
		case trace.Init:
			list, ok := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			if !ok {
				clear(dead) // any of them may be initialized again
			}
			for _, o := range list {
				if (e.Threads.And(t.Threads) == value.Set{}) {
					// Other threads initialized it before the paths split; it is invalidated on
					// their path.
					continue
				}
				if was := alive[o.Object]; was != nil {
					f := p.Report(&ruleLife, e.In, "mbarrier is initialized twice without "+
						"mbarrier.inval in between").Also(was, "first initialized here").On(t, i)
					if !used[o.Object] {
						f.As(diag.Review) // neither mbarrier is ever used
					}
				}
				alive[o.Object] = e.In
				delete(dead, o.Object)
			}
		case trace.Inval:
			list, ok := p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			if !ok {
				clear(alive) // any of them may be invalidated
			}
			for _, o := range list {
				if in := flying[o.Object]; in != nil && o.Rank == nil {
					p.Report(&ruleLife, e.In, "mbarrier is invalidated while a copy that completes on it is in flight").
						Also(in, "the copy").On(t, i)
				}
				delete(flying, o.Object)
				delete(alive, o.Object)
				dead[o.Object] = e.In
			}
		case trace.Store, trace.Clear, trace.BulkLoad, trace.Copy:
			regions := p.Writes(e)
			if r, ok := p.Access(e); ok && (e.Kind == trace.Store || e.Kind == trace.Clear) && r.Shared() {
				regions = append(regions, r)
			}
			if e.Kind == trace.BulkLoad {
				if list, ok := p.Objects(e, verify.Val(e, verify.Target(e))); ok && len(list) == 1 {
					flying[list[0].Object] = e.In
				}
			}
			for k := range regions {
				for o, in := range alive {
					over(p, t, i, &regions[k], o, in, used)
				}
				for o, b := range births {
					// Other threads initialized it; one that has passed a barrier since may have
					// invalidated it.
					if b.by.And(t.Threads) == (value.Set{}) && !ends && (e.Kind == trace.BulkLoad || syncs > b.syncs) {
						over(p, t, i, &regions[k], o, b.e.In, used)
					}
				}
			}
		default:
			n := verify.Target(e)
			if n < 0 {
				continue
			}
			list, ok := p.Objects(e, verify.Val(e, n))
			if e.Kind == trace.Wait && !ok {
				clear(flying)
			}
			for _, o := range list {
				if e.Kind == trace.Wait {
					delete(flying, o.Object)
				}
				if in := dead[o.Object]; in != nil && o.Rank == nil {
					p.Report(&ruleLife, e.In, "mbarrier is used after mbarrier.inval").
						Also(in, "invalidated here").On(t, i)
				}
			}
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

// over reports a write to the memory of a valid mbarrier.
func over(p *verify.Pass, t *trace.Trace, i int, r *memory.Region, o verify.Object, made *ir.Instr, used map[verify.Object]bool) {
	if sure, _ := r.Meets(&memory.Region{Root: o.Root, Low: o.At, High: o.At + 8, Sure: true, Bytes: 8, Solid: true}); !sure {
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
