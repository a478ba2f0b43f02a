// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster checks the interaction of the blocks of a cluster: cluster barriers at entry, at
// exit and in each phase.
package cluster

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for clusters.
var Analyzer = &verify.Analyzer{
	Name:   "cluster",
	Covers: "shared memory of other blocks",
	Doc: `Cluster reports shared memory of another block that is accessed before a cluster
barrier shows that the block has started, and blocks that exit while others may
still access theirs.`,
	Rules:    diag.Rules{rulePhase, ruleRelaxed, ruleEntry, ruleExit, ruleCancel},
	Tells:    diag.Rules{rulePlain},
	Subsumes: []*verify.Subsumption{&earlyExits},
	Pages:    pages,
	Requires: []trace.Kind{trace.ClusterArrive, trace.ClusterWait, trace.Arrive, trace.RemoteStore,
		trace.BulkLoad,
		trace.Store, trace.Load, trace.Atomic, trace.TensorCommit, trace.Answer},
	Run: run,
}

func run(p *verify.Pass) {
	checkCancel(p)
	checkRanks(p)
	if p.Cluster == 1 {
		return
	}
	for _, t := range p.Traces {
		checkTrace(p, t)
	}
	checkArrivalCounts(p)
	checkRelaxed(p)
	if !p.Subsumed(&earlyExits) {
		for _, t := range p.Traces {
			checkRelaxedExit(p, t)
		}
	}
	checkBetween(p)
}

// checkTrace checks the cluster barriers and remote accesses of one trace. Arrivals and waits
// must alternate, and remote accesses must lie between the first and the last barrier.
func checkTrace(p *verify.Pass, t *trace.Trace) {
	var arrived *trace.Event
	var made *ir.Instr // the last initialized mbarrier that no fence follows
	fenced := false    // earlier mbarriers are followed by a fence
	var last *trace.Event
	entered := false
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Init:
			made = e.In
		case trace.InitFence:
			made, fenced = nil, true
		case trace.ClusterArrive:
			if arrived != nil {
				p.Report(&rulePhase, e.In, "second barrier.cluster.arrive without a "+
					"barrier.cluster.wait in between").Also(arrived.In, "the first arrival").
					On(t, i)
			}
			if e.In.HasMod(isa.ModRelaxed) && made != nil {
				f := p.Report(&ruleRelaxed, e.In, "mbarrier.init may not be visible to other "+
					"blocks: barrier.cluster.arrive.relaxed does not order it, and no "+
					"fence.mbarrier_init precedes the arrival").Also(made,
					"initialized here, without fence.mbarrier_init after it").On(t, i)
				if fenced {
					// Earlier mbarriers were fenced. This one may be used only after the blocks
					// have synchronized in another way.
					f.As(diag.Review)
				}
			}
			arrived = e
			last = nil
		case trace.ClusterWait:
			if arrived == nil && t.Stopped == "" {
				p.Report(&rulePhase, e.In, "barrier.cluster.wait without a preceding "+
					"barrier.cluster.arrive").On(t, i)
			}
			arrived, entered = nil, true
		case trace.Exit:
			if arrived != nil {
				p.Report(&rulePhase, arrived.In, "barrier.cluster.arrive is never followed by "+
					"barrier.cluster.wait before the threads exit").As(diag.Review).On(t, i)
			}
			if last != nil && !isAwaited(p, t, last) {
				p.Report(&ruleExit, last.In, "block exits while cluster peers may still access "+
					"shared memory: no cluster barrier follows the last access to another "+
					"block's shared memory").
					As(severityOf(last)).Also(e.In, "the block exits here").On(t, i)
			}
		default:
			if !isRemote(p, t, e) {
				continue
			}
			if !entered {
				f := p.Report(&ruleEntry, e.In, "shared memory of another block is accessed "+
					"before a cluster barrier; that block may not have started").On(t, i)
				if p.Cluster == 0 && !p.Needs(trace.ClusterWait) {
					// A kernel that does not use its cluster may be launched with clusters of one
					// block.
					f.As(diag.Review)
				}
				entered = true
			}
			last = e
		}
	}
}

// isAwaited reports whether the threads, after an operation that completes on an mbarrier of
// another block, wait for the same mbarrier of their own block. All blocks do the same, so the
// other block waits for this operation before it exits.
func isAwaited(p *verify.Pass, t *trace.Trace, last *trace.Event) bool {
	n := verify.Target(last)
	switch last.Kind {
	case trace.RemoteStore, trace.BulkLoad:
	case trace.Arrive:
		if last.In.HasMod(isa.ModRelaxed) {
			return false // it does not order earlier accesses
		}
	default:
		return false
	}
	if n < 0 {
		return false
	}
	goes, ok := p.Objects(last, verify.Val(last, n))
	if !ok || len(goes) != 1 {
		return false
	}
	behind := false
	for i := range t.Events {
		e := &t.Events[i]
		behind = behind || e == last
		if !behind || e.Kind != trace.Wait {
			continue
		}
		list, _ := p.Objects(e, verify.Val(e, verify.Target(e)))
		if len(list) == 1 && list[0].Object == goes[0].Object {
			return true
		}
	}
	return false
}

// severityOf returns the severity of a finding about a remote access. Reads and writes by a
// thread itself are errors. Arrivals, byte counts and asynchronous copies are reviews, because a
// wait by another thread, in either block, may cover them.
func severityOf(e *trace.Event) diag.Severity {
	switch e.Kind {
	case trace.Arrive, trace.Expect, trace.Complete, trace.BulkLoad, trace.TensorCommit,
		trace.RemoteStore:
		return diag.Review
	}
	return diag.Error
}

// isRemote reports whether an event certainly accesses the memory of another block.
func isRemote(p *verify.Pass, w *trace.Trace, e *trace.Event) bool {
	mapped := func(n int) bool {
		v := verify.Val(e, verify.Address(e.In, n))
		if v == nil {
			return false
		}
		for _, t := range v.Terms {
			if t.Atom.Op == value.OpMapa && !isOwnRank(p, w, t.Atom) {
				return true
			}
		}
		return false
	}
	switch e.Kind {
	case trace.Load, trace.Store, trace.Atomic, trace.Arrive, trace.Expect, trace.Complete:
		return mapped(0)
	case trace.RemoteStore:
		return mapped(0) || mapped(1)
	case trace.BulkLoad:
		return mapped(0) || isMulticast(e)
	case trace.TensorCommit:
		return isMulticast(e)
	}
	return false
}

// isOwnRank reports whether the rank operand of a mapa may be the rank of the executing block. It
// may if it is %cluster_ctarank, or if it is zero and the launch chooses the cluster size, which
// may be one block.
func isOwnRank(p *verify.Pass, w *trace.Trace, a *value.Atom) bool {
	rank := a.Args[1]
	if p.Ranks > 1 && rank.Is(int64(w.Rank)) {
		return true
	}
	if p.Cluster == 0 && rank.Const() && rank.K == 0 {
		return true
	}
	r := rank.Single()
	return r != nil && r.Name == "%cluster_ctarank"
}

// isMulticast reports whether an asynchronous operation may write to several blocks.
func isMulticast(e *trace.Event) bool {
	if !verify.Multicast(e.In) {
		return false
	}
	mask := verify.Blocks(e)
	return mask == nil || !mask.Const() || mask.K&(mask.K-1) != 0
}
