// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A usage checks the accesses to mbarriers on a trace against their initialization.
type usage struct {
	p           *verify.Pass
	t           *trace.Trace
	initialized map[verify.Object]*initialization
	peers       map[blockMbarrier]*ir.Instr
	alone       bool

	syncs, warps int       // barriers, and barriers of warps, up to the current event
	fenced       value.Set // threads that have executed a fence after late barriers
	late         int
}

// uses checks each use of mbarriers on a trace against their initialization.
func uses(p *verify.Pass, t *trace.Trace, initialized map[verify.Object]*initialization,
	peers map[blockMbarrier]*ir.Instr, alone bool) {
	u := &usage{p: p, t: t, initialized: initialized, peers: peers, alone: alone, late: -1}
	for i := range t.Events {
		e := &t.Events[i]
		before := u.syncs
		u.count(e)
		n := verify.Target(e)
		if n < 0 || e.Kind == trace.Init || e.Kind == trace.Inval {
			continue
		}
		list, ok := p.Objects(e, verify.Val(e, n))
		if !ok {
			p.Missed("mbarriers at unknown addresses")
			continue
		}
		for _, o := range list {
			if e.Kind == trace.Wait {
				waited(p, t, i, o, peers)
			}
			if b := initialized[o.Object]; b != nil {
				u.visible(i, o, b, before)
			} else {
				u.uninitialized(i, o)
			}
		}
	}
}

// count counts the barriers and fences up to an event.
func (u *usage) count(e *trace.Event) {
	switch e.Kind {
	case trace.WarpSync:
		u.warps++
	case trace.BarrierSync, trace.ClusterWait, trace.Wait:
		u.syncs++ // for the threads that use the mbarrier, any synchronization may suffice
	case trace.ProxyFence:
		if publishes(e) {
			// A fence.mbarrier_init covers initializations by its own thread.
			u.fenced, u.late = *e.Threads, u.syncs
		}
	}
}

// uninitialized reports a use of an mbarrier that no trace initializes.
func (u *usage) uninitialized(i int, o verify.Touch) {
	p, e := u.p, &u.t.Events[i]
	if o.Threads.And(*p.Pool.Sample(e.Threads)) == (value.Set{}) {
		p.Missed("mbarriers of threads that may not exist: the block size is not " +
			"declared")
		return
	}
	named := hasNeighbor(u.initialized, o.Object) || declared(o.Object)
	if !named || o.Rank != nil || len(p.Kernel.Missed) > 0 || p.MadeElsewhere(o.Object) {
		return
	}
	f := p.Report(&ruleLife, e.In, "mbarrier is used but never initialized, at "+
		"address %d", o.At).On(u.t, i)
	if p.Loops && looped(p) || !hasNeighbor(u.initialized, o.Object) {
		// An iteration that was not followed may initialize it, or code outside of this excerpt.
		f.As(diag.Review)
	}
}

// visible reports a use of an mbarrier whose initialization may not be visible. before is the
// number of barriers before the event.
func (u *usage) visible(i int, o verify.Touch, b *initialization, before int) {
	p, e := u.p, &u.t.Events[i]
	own := o.Threads.Minus(b.by) == value.Set{}
	// st.async and red.async are performed in the generic proxy: the barrier suffices.
	engine := e.Kind == trace.BulkLoad || e.Kind == trace.TensorCommit || e.Kind == trace.Answer
	switch {
	case !own && before <= b.syncs && o.Rank == nil &&
		(u.warps <= b.warps || b.inOtherWarp(o.Threads)):
		p.Report(&ruleSeen, e.In, "mbarrier is used without a block barrier after "+
			"another thread initialized it").Also(b.e.In, "initialized here").On(u.t, i)
	case engine && !(b.fenced && (own || before > b.past)) &&
		(u.late <= b.syncs && !own || o.Threads.Minus(u.fenced) != value.Set{}):
		f := p.Report(&ruleSeen, e.In, "missing fence after mbarrier.init: %s uses an "+
			"mbarrier that may not be visible to it", baseOpcode(e.In)).
			Also(b.e.In, "initialized here; neither fence.mbarrier_init nor "+
				"fence.proxy.async follows in this thread%s", fencePosition(b)).On(u.t, i)
		if u.alone {
			// CUB omits the fence within a block, and states that the memory model now allows it.
			f.As(diag.Review)
		}
	case engine && b.narrow && !u.alone && (o.Rank != nil || verify.Multicast(e.In)):
		p.Report(&ruleSeen, e.In, "%s uses mbarriers of other blocks, but the fence "+
			"after their initialization covers only their own block", baseOpcode(e.In)).
			As(diag.Review).Also(b.e.In, "initialized here")
	}
}

// fencePosition describes the position of a fence that comes too late, for messages.
func fencePosition(b *initialization) string {
	if b.fenced {
		return " before the barrier"
	}
	return ""
}
