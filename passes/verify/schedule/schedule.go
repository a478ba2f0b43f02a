// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule simulates all warps of a block together, each along one trace. It reports
// deadlocks, and memory that threads and asynchronous operations use without synchronization. It
// runs one interleaving of the warps, in which asynchronous operations complete as late as
// possible. Its findings are true for this interleaving; other interleavings may show more
// mistakes.
package schedule

import (
	"embed"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

// Analyzer is the analyzer that simulates the warps of a block.
var Analyzer = &verify.Analyzer{
	Name:   "schedule",
	Covers: "races and deadlocks between warps",
	Doc: `Protocol simulates the warps of one block together, each along one path, for every
combination of paths that do not contradict one another. It assumes that the blocks of a
cluster behave alike, and that a tensor copy delivers its share of the expected bytes.`,
	Rules: diag.Rules{ruleHang, ruleLap, rulePlain},
	Pages: pages,
	Tells: diag.Rules{
		ruleProxy, ruleOperand, ruleMeet, ruleMix, ruleCount, ruleBytes, ruleParity, ruleFreed,
		ruleResult, ruleExit,
	},
	Subsumes: []*verify.Subsumption{
		&hangs, &endChecks, &earlyArrivals, &surpluses, &lateArrivals, &clusterBytes, &slotRaces,
		&copyRaces, &engineRaces,
		&missingFences, &mixedArrivals, &repeatedArrivals,
	},
	Replaces: []verify.Replacement{{Rule: &verify.RuleLaneRace, By: &rulePlain}},
	Requires: []trace.Kind{trace.Wait, trace.Store, trace.Copy, trace.BulkLoad, trace.BulkStore,
		trace.GroupMultiply, trace.TensorMultiply,
		trace.RemoteStore, trace.Answer, trace.TensorStore, trace.BarrierSync},
	Run: run,
}

func run(p *verify.Pass) {
	rules := "B8"
	if p.Needs(trace.Wait) {
		rules = "B8, M4, M6, M7, M11"
	} else if !p.Shares && !hasCountedBarrier(p) && !p.Needs(trace.Copy, trace.BulkLoad,
		trace.BulkStore,
		trace.GroupMultiply, trace.TensorMultiply, trace.RemoteStore, trace.Answer,
		trace.TensorStore) {
		return
	}
	missed := func(why string) { p.Missed("interleavings of warps (%s): %s", rules, why) }
	if why := unsupportedReason(p); why != "" {
		missed(why)
		return
	}
	list, whole := p.Scenes(24)
	if len(list) == 0 {
		missed("the paths of the warps contradict one another")
		return
	}
	if !whole {
		missed("some paths of one warp contradict every path of another warp")
	}
	work, worth := 0, workPerStep*p.Within(workLimit(p)/workPerStep)
	defer func() { p.Spent += work / workPerStep }()
	near, found, things := asyncRegions(p), make(findingsByWait), &freeList{}
	marks := newFlags(p)
	defer found.merge()
	out := &outcomes{p: p}
	defer out.settle()
	for i, s := range list {
		m := newMachine(p, s, &work, things)
		m.maxWork = min(m.maxWork, worth)
		m.comparesPlain = i == 0 || len(out.races) > 0 || isShort(s)
		m.asyncRegions, m.missingWaits, m.flags = near, found, marks
		m.outcomes = out
		reported := p.Reports()
		m.assumeCopySizes(s)
		stuck, ok := m.run()
		if !ok {
			missed("the simulation exceeds its limit (a larger -effort continues it)")
			return
		}
		m.settleSuspects()
		if len(stuck) > 0 {
			m.reportHang(stuck)
		} else {
			m.checkEnd(s)
		}
		out.add(s, m.comparesPlain, reported, len(stuck) > 0)
	}
}

// asyncRegions returns the shared memory that asynchronous operations access, each region once.
func asyncRegions(p *verify.Pass) []memory.Region {
	var list []memory.Region
	type place struct {
		root      *value.Value
		low, high int64
	}
	seen := make(map[place]bool)
	var regions []memory.Region
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind == trace.Copy {
				continue
			}
			regions = p.AppendWrites(p.AppendReads(regions[:0], e), e)
			for _, r := range regions {
				if n, ok := p.Extent(e); ok && verify.Tensor(e.In) && n > r.Bytes {
					r = r.Resized(n)
				}
				if k := (place{r.Root, r.Low, r.High}); !seen[k] {
					seen[k] = true
					list = append(list, r)
				}
			}
		}
	}
	return list
}

// unsupportedReason returns the reason why a kernel cannot be simulated, or "".
func unsupportedReason(p *verify.Pass) string {
	switch {
	case len(p.Kernel.Missed) > 0:
		return "some paths through the kernel are unknown"
	case !p.Pool.Exact:
		return "the block size is not declared"
	case branchesOnSharedData(p):
		return "warps choose work through values in shared memory"
	case p.Needs(trace.Call) && hasCall(p):
		return "some instructions are not modelled"
	}
	for _, t := range p.Traces {
		if t.Stopped != "" {
			return "some paths are not analyzed to their end"
		}
		if !hasUniformBranches(t) {
			return "threads of a block choose different branches"
		}
		for i := range t.Events {
			if why := unsupportedEvent(p, t, &t.Events[i]); why != "" {
				return why
			}
		}
	}
	return ""
}

// hasCall reports whether some threads execute a call.
func hasCall(p *verify.Pass) bool {
	for _, t := range p.Traces {
		for i := range t.Events {
			if t.Events[i].Kind == trace.Call {
				return true
			}
		}
	}
	return false
}

// unsupportedEvent returns the reason why an event of a trace cannot be simulated, or "".
func unsupportedEvent(p *verify.Pass, t *trace.Trace, e *trace.Event) string {
	n := verify.Target(e)
	if n >= 0 {
		list, ok := p.Objects(e, verify.Val(e, n))
		if !ok {
			return "mbarriers at unknown addresses"
		}
		if e.Guard != nil {
			return "data-dependent arrivals"
		}
		for _, o := range list {
			switch {
			case p.Uncertain(o.Object):
				return "addresses that may belong to several mbarriers"
			case o.Rank == nil || p.Ranks < 2 && isSymmetric(o.Rank):
			case p.Ranks < 2:
				return "blocks of a cluster behave differently"
			case !o.Rank.Const() && !o.Rank.Tid():
				return "blocks of a cluster with a data-dependent rank"
			}
		}
	}
	switch e.Kind {
	case trace.Init:
		if count, ok := verify.Number(e, n+1); !ok || count < 1 {
			return "arrival counts that are not constant or not valid"
		}
	case trace.Arrive:
		if _, ok := verify.Arrivals(e); !ok {
			return "arrival counts that are not constant"
		}
		if _, ok := verify.Number(e, n+1); verify.Expects(e.In) && !ok {
			return "byte counts that are not constant"
		}
	case trace.Expect, trace.Complete:
		if _, ok := verify.Number(e, n+1); !ok {
			return "byte counts that are not constant"
		}
	case trace.Wait:
		if _, ok := verify.Number(e, n+1); verify.Parity(e.In) && !ok || !verify.Parity(e.In) &&
			!isArrivalState(t, verify.Val(e, n+1)) {
			return "waits whose phase is not constant"
		}
	case trace.BarrierSync, trace.BarrierArrive:
		if number := verify.Val(e, verify.Barrier(e)); number == nil || !number.Tid() ||
			e.Guard != nil {
			return "named barriers with unknown numbers"
		}
	}
	return ""
}

// isArrivalState reports whether a value is the state that an arrival of the trace returned.
func isArrivalState(t *trace.Trace, v *value.Value) bool {
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.Arrive && e.Done != nil && e.Done == v {
			return true
		}
	}
	return false
}

// isSymmetric reports whether every block receives as many arrivals as it sends.
func isSymmetric(rank *value.Value) bool {
	if rank.Const() {
		return false
	}
	if rank.Tid() {
		return true
	}
	for _, t := range rank.Terms {
		if t.Atom.Op == value.OpRegister || t.Atom.Op == value.OpXor {
			return true
		}
	}
	return false
}

// assumeCopySizes assumes a size for copies of unknown size: each copy gets an equal share of the
// expected bytes. The real sizes may differ, but every phase has the same copies.
func (m *machine) assumeCopySizes(s []*trace.Trace) {
	expected := make(map[mbarrierPlace]int64)
	copies := make(map[mbarrierPlace]int64)
	brought := make(map[mbarrierPlace]int64)
	first := make(map[mbarrierPlace]*trace.Event)
	var order []mbarrierPlace
	for _, t := range s {
		for i := range t.Events {
			e := &t.Events[i]
			n := verify.Target(e)
			if n < 0 {
				continue
			}
			e = t.Of(e)
			loads := e.Kind == trace.BulkLoad && verify.Tensor(e.In)
			size, known := m.transferredBytes(e)
			loads = loads && !known
			if !loads && !known && !verify.Expects(e.In) {
				continue
			}
			list, _ := m.p.Objects(e, verify.Val(e, n))
			for k := range list {
				o := &list[k]
				for _, block := range m.targetBlocks(t.Rank, e, o) {
					at, threads := mbarrierPlace{block, o.Object}, int64(o.Threads.Len())
					if o.Rank != nil && !o.First && m.p.Ranks > 1 {
						threads = m.countToBlock(o, block)
					}
					switch {
					case loads:
						copies[at] += threads
					case known:
						brought[at] += size * threads
					default:
						bytes, _ := verify.Number(e, n+1)
						if first[at] == nil && threads > 0 {
							first[at] = e
							order = append(order, at)
						}
						expected[at] += bytes * threads
					}
				}
			}
		}
	}
	for _, at := range order {
		if want, got := expected[at], brought[at]; m.p.Ranks > 1 && copies[at] == 0 &&
			want != got && !m.p.Subsumed(&clusterBytes) {
			m.p.Report(&ruleBytes, first[at].In, "expect_tx mismatch: %d bytes are expected at "+
				"an mbarrier in total, but %d arrive from all blocks of the cluster", want, got)
		}
	}
	for o, n := range copies {
		m.copyShares[o] = copyShare{expected[o], n}
		m.newMbarrier(o, mbarrier{copyShare: m.copyShares[o], count: 1, pending: 1,
			init: &trace.Event{Threads: new(value.Set)}})
	}
}

// transferredBytes returns how many bytes per thread an event transfers to its mbarrier. known is
// false if the size is unknown.
func (m *machine) transferredBytes(e *trace.Event) (bytes int64, known bool) {
	switch e.Kind {
	case trace.RemoteStore:
		return memory.Bytes(e.In), true
	case trace.Answer:
		return 16, true
	case trace.Complete:
		return verify.Number(e, verify.Address(e.In, 0)+1)
	case trace.BulkLoad:
		return m.p.Copied(e)
	}
	return 0, false
}

var (
	ruleHang  = verify.RuleDeadlock
	ruleLap   = verify.RuleReuse
	rulePlain = verify.RuleWarpRace
	// The pages of these rules belong to packages proxies, convergence, tensor, mbarrier and
	// cluster.
	ruleResult  = verify.RuleTensorRead
	ruleFreed   = verify.RuleTensorFree
	ruleProxy   = verify.RuleProxyFence
	ruleOperand = verify.RuleOperandFence
	ruleMix     = verify.RuleSharedBarrier.As(diag.Error)
	ruleMeet    = verify.RuleBarrierCount
	ruleCount   = verify.RuleArrivals
	ruleBytes   = verify.RuleBytes
	ruleParity  = verify.RuleParity
	ruleExit    = verify.RulePeerExit
)
