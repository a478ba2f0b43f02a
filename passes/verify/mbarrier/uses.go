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

// A usageCheck compares the uses of mbarriers on a trace with their initialization.
type usageCheck struct {
	p           *verify.Pass
	t           *trace.Trace
	initialized map[verify.Object]*initialization
	peers       map[blockMbarrier]*ir.Instr
	singleBlock bool

	syncs, warps int       // block barriers, and warp barriers, up to the current event
	fenced       value.Set // threads that have executed a proxy fence
	fenceSyncs   int       // number of block barriers before that fence, or -1
}

// checkUses compares each use of an mbarrier on a trace with its initialization.
func checkUses(p *verify.Pass, t *trace.Trace, initialized map[verify.Object]*initialization,
	peers map[blockMbarrier]*ir.Instr, alone bool) {
	u := &usageCheck{p: p, t: t, initialized: initialized, peers: peers, singleBlock: alone,
		fenceSyncs: -1}
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
				checkWait(p, t, i, o, peers)
			}
			if b := initialized[o.Object]; b != nil {
				u.checkVisible(i, o, b, before)
			} else {
				u.reportUninitialized(i, o)
			}
		}
	}
}

// count counts the barriers and fences up to an event.
func (u *usageCheck) count(e *trace.Event) {
	switch e.Kind {
	case trace.WarpSync:
		u.warps++
	case trace.BarrierSync, trace.ClusterWait, trace.Wait:
		u.syncs++ // for the threads that use the mbarrier, any synchronization may suffice
	case trace.ProxyFence:
		if isPublishingFence(e) {
			// A fence.mbarrier_init covers only initializations by the executing thread.
			u.fenced, u.fenceSyncs = *e.Threads, u.syncs
		}
	}
}

// reportUninitialized reports a use of an mbarrier that no trace initializes.
func (u *usageCheck) reportUninitialized(i int, o verify.Touch) {
	p, e := u.p, &u.t.Events[i]
	if o.Threads.And(*p.Pool.Sample(e.Threads)) == (value.Set{}) {
		p.Missed("mbarriers of threads that may not exist: the block size is not " +
			"declared")
		return
	}
	named := hasNeighbor(u.initialized, o.Object) || isDeclared(o.Object)
	if !named || o.Rank != nil || len(p.Kernel.Missed) > 0 || p.MadeElsewhere(o.Object) {
		return
	}
	f := p.Report(&ruleLife, e.In, "mbarrier is used but never initialized, at "+
		"address %d", o.At).On(u.t, i)
	if p.Loops && initializesInLoop(p) || !hasNeighbor(u.initialized, o.Object) {
		// An iteration that was not analyzed may initialize the mbarrier, or code outside this
		// excerpt.
		f.As(diag.Review)
	}
}

// checkVisible reports a use of an mbarrier whose initialization may not be visible. The
// parameter before is the number of block barriers before the event.
func (u *usageCheck) checkVisible(i int, o verify.Touch, b *initialization, before int) {
	p, e := u.p, &u.t.Events[i]
	own := o.Threads.Minus(b.by) == value.Set{}
	// st.async and red.async are performed in the generic proxy, so the barrier suffices.
	engine := e.Kind == trace.BulkLoad || e.Kind == trace.TensorCommit || e.Kind == trace.Answer
	switch {
	case !own && before <= b.syncs && o.Rank == nil &&
		(u.warps <= b.warps || b.inOtherWarp(o.Threads)):
		p.Report(&ruleInvisible, e.In, "mbarrier is used without a block barrier after "+
			"another thread initialized it").Also(b.e.In, "initialized here").On(u.t, i)
	case engine && !(b.fenced && (own || before > b.fenceSyncs)) &&
		(u.fenceSyncs <= b.syncs && !own || o.Threads.Minus(u.fenced) != value.Set{}):
		f := p.Report(&ruleInvisible, e.In, "missing fence after mbarrier.init: %s uses an "+
			"mbarrier that may not be visible to it", baseOpcode(e.In)).
			Also(b.e.In, "initialized here; neither fence.mbarrier_init nor "+
				"fence.proxy.async follows in this thread%s", fencePosition(b)).On(u.t, i)
		if u.singleBlock {
			// CUB omits the fence within a block, and states that the memory model now allows it.
			f.As(diag.Review)
		}
	case engine && b.blockOnly && !u.singleBlock && (o.Rank != nil || verify.Multicast(e.In)):
		p.Report(&ruleInvisible, e.In, "%s uses mbarriers of other blocks, but the fence "+
			"after their initialization covers only their own block", baseOpcode(e.In)).
			As(diag.Review).Also(b.e.In, "initialized here")
	}
}

// fencePosition returns a phrase that distinguishes a missing fence from one that comes too late,
// for messages.
func fencePosition(b *initialization) string {
	if b.fenced {
		return " before the barrier"
	}
	return ""
}
