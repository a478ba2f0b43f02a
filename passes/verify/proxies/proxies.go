// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package proxies checks generic-proxy accesses to shared memory against accesses through the
// async proxy, by bulk copies and tensor cores. Between the two, the threads that made the
// generic-proxy access must execute a proxy fence and then a barrier.
package proxies

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for proxy fences.
var Analyzer = &verify.Analyzer{
	Name:   "proxies",
	Covers: "proxy fences",
	Doc: `Proxies follows on each path the memory written through the generic proxy. Before an
access through the async proxy, the writing thread must execute a proxy fence and then a
barrier. Each path is checked on its own: if one role writes memory that another role reads
through the async proxy, the writer must execute the fence before it arrives.`,
	Rules: diag.Rules{ruleWrite, ruleRead, ruleSpace, ruleGroup, ruleMap},
	Pages: pages,
	Requires: []trace.Kind{trace.BulkLoad, trace.BulkStore, trace.GroupMultiply,
		trace.TensorMultiply, trace.TensorCopy, trace.MapEdit, trace.MapCopy, trace.Answer},
	Run: run,
}

// A fenceState records which fences and barriers have followed a generic access.
type fenceState uint8

const (
	unfenced          fenceState = iota // neither a fence nor a barrier
	barrierOnly                         // a barrier without a preceding fence
	fenced                              // a fence by the threads that made the access
	ordered                             // a fence, then a barrier
	orderedInWarp                       // a fence, then a warp barrier
	fenceAfterBarrier                   // a barrier, then a fence
	otherSpace                          // a fence for another state space only
)

// A genericAccess is an access through the generic proxy that is being tracked.
type genericAccess struct {
	e          *trace.Event
	region     memory.Region
	write      bool
	state      fenceState
	fence      *ir.Instr // the last fence, even if it has no effect on the access
	beforeWait bool      // no mbarrier wait precedes the access
	remote     bool      // the memory belongs to another block of the cluster
	groups     int       // for a copy in flight: number of groups committed after it
	inFlight   bool      // a copy that may be in flight; fences and barriers do not cover it
	sync       *ir.Instr // the barrier or arrival after the access
}

func run(p *verify.Pass) {
	engines, each := engineRegions(p)
	there := &followedPairs{p: p}
	loads := copyDestinations(engines)
	for n, t := range p.Traces {
		var others []*asyncOperation
		for i := range engines {
			if engines[i].by.And(t.Threads) == (value.Set{}) {
				others = append(others, &engines[i])
			}
		}
		checkTrace(p, t, others, each[n], loads, there)
		checkRequests(p, t)
		if p.Needs(trace.MapEdit, trace.MapCopy) {
			checkMaps(p, t)
		}
	}
}

// checkTrace compares the generic accesses of one trace with the async operations of the same
// trace (own) and, at arrivals, with those of other threads (engines).
func checkTrace(p *verify.Pass, t *trace.Trace, engines, own []*asyncOperation,
	loads []memory.Region,
	there *followedPairs) {
	var list []*genericAccess
	waited := false
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Load, trace.Store, trace.Atomic, trace.Clear, trace.Copy:
			n := len(list)
			if list = addAccess(p, e, list); len(list) > n {
				list[n].beforeWait = !waited
			}
		case trace.CopyCommit, trace.CopyWait:
			completeCopies(e, list)
		case trace.Wait:
			list, waited = dropOverwritten(list, loads), true
		case trace.ProxyFence:
			if e.Guard == nil && e.In.HasMod(isa.ModAsync, isa.ModAsyncGeneric) {
				applyFence(t, e, list)
			}
		case trace.BarrierSync, trace.BarrierArrive, trace.ClusterArrive, trace.Arrive,
			trace.WarpSync, trace.CopyArrive:
			if e.Kind == trace.Arrive || e.Kind == trace.BarrierArrive {
				checkArrival(p, t, i, list, engines, loads, there)
			}
			if e.Kind == trace.CopyArrive {
				completeCopies(e, list)
			}
			applyBarrier(e, list)
		default:
			if len(own) > 0 && own[0].e == e {
				checkOperation(p, t, i, own[0], list)
				own = own[1:]
			}
		}
	}
}

// addAccess appends a generic access to shared memory to list. It also removes accesses that the
// new one makes irrelevant.
func addAccess(p *verify.Pass, e *trace.Event, list []*genericAccess) []*genericAccess {
	var r memory.Region
	ok := false
	if e.Kind == trace.Copy {
		for _, r = range p.Writes(e) {
			ok = true
		}
	} else {
		r, ok = p.Access(e)
		ok = ok && r.Shared()
	}
	remote := false
	if !ok {
		if r, ok = p.Peer(e, memory.Bytes(e.In)); !ok {
			return list
		}
		remote = true
	}
	write := e.Kind != trace.Load
	for _, a := range list {
		if a.write == write && a.e.In == e.In && a.region.Low == r.Low && a.region.High == r.High &&
			a.region.Root == r.Root {
			*a = genericAccess{e: e, region: r, write: write, remote: remote,
				inFlight: e.Kind == trace.Copy}
			return list
		}
	}
	return append(list,
		&genericAccess{e: e, region: r, write: write, remote: remote,
			inFlight: e.Kind == trace.Copy})
}

// completeCopies marks copies as complete if event e waits for them or lets them signal an
// mbarrier.
func completeCopies(e *trace.Event, list []*genericAccess) {
	pending, counted := verify.Number(e, 0)
	counted = counted && e.In.Kind() == isa.KindCpAsyncWaitGroup
	for _, a := range list {
		switch {
		case !a.inFlight:
		case e.Kind == trace.CopyCommit:
			a.groups++
		case !counted, int64(a.groups) > pending:
			a.inFlight = false
		}
	}
}

// applyFence updates the accesses that a proxy fence covers.
func applyFence(t *trace.Trace, e *trace.Event, list []*genericAccess) {
	all := !e.In.HasMod(isa.ModAsync) || !e.In.HasMod(isa.ModGlobal)
	for _, a := range list {
		if a.inFlight || a.state == ordered || a.state == orderedInWarp || a.state == fenced {
			continue
		}
		a.fence = e.In
		switch {
		case !all, a.remote && e.In.HasMod(isa.ModSharedCTA):
			if a.state == unfenced || a.state == barrierOnly {
				a.state = otherSpace
			}
		case a.e.Threads.And(t.Threads).Minus(*e.Threads) != value.Set{}:
			// Not all threads of the access execute the fence.
			if a.state == barrierOnly {
				a.state = fenceAfterBarrier
			}
		case a.state == barrierOnly:
			a.state = fenceAfterBarrier
		default:
			a.state = fenced
		}
	}
}

// applyBarrier updates the accesses that a barrier or an arrival makes visible to other threads.
func applyBarrier(e *trace.Event, list []*genericAccess) {
	if e.Kind == trace.WarpSync && e.Threads.Warps() > 1 {
		for _, a := range list {
			if a.state == fenced && !a.inFlight {
				a.state, a.sync = orderedInWarp, e.In
			}
		}
		return
	}
	for _, a := range list {
		if a.inFlight {
			continue
		}
		switch a.state {
		case unfenced:
			a.state, a.sync = barrierOnly, e.In
		case fenced, orderedInWarp, fenceAfterBarrier:
			a.state, a.sync = ordered, e.In
		}
	}
}

// checkOperation compares an async operation with the earlier generic accesses of the same trace.
func checkOperation(p *verify.Pass, t *trace.Trace, i int, g *asyncOperation,
	list []*genericAccess) {
	rule := &ruleWrite
	if g.e.Kind == trace.GroupMultiply {
		rule = &ruleGroup
	}
	for _, a := range list {
		if a.state == ordered {
			continue
		}
		for k := range g.reads {
			if sure, _ := g.reads[k].Meets(&a.region); a.write && sure &&
				a.needsBarrier(&g.reads[k]) {
				reportMissing(p, t, i, rule, g, a)
				break
			}
		}
		for k := range g.writes {
			// A plain write that the async operation overwrites has no reader, so it needs no
			// fence.
			if sure, _ := g.writes[k].Meets(&a.region); !a.write && sure &&
				a.needsBarrier(&g.writes[k]) &&
				(g.e.Kind == trace.BulkLoad || g.e.Kind == trace.Answer) {
				reportMissing(p, t, i, &ruleRead, g, a)
				break
			}
		}
	}
}

// needsBarrier reports whether the barriers after a generic access do not suffice for an async
// access of r: there is no ordering warp barrier, or lanes of other warps also access the region.
func (a *genericAccess) needsBarrier(r *memory.Region) bool {
	return a.state != orderedInWarp || r.Crosses(&a.region, 32)
}

// reportMissing reports the fence or barrier that is missing between a generic access and an
// async operation.
func reportMissing(p *verify.Pass, t *trace.Trace, i int, rule *diag.Rule, g *asyncOperation,
	a *genericAccess) {
	what, did := "reads", "written"
	if rule == &ruleRead {
		what, did = "overwrites", "read"
	}
	severity := rule.Severity
	switch a.state {
	case fenced:
		if a.e.Threads.Len() == 1 && *a.e.Threads == *g.e.Threads {
			return // the same thread accesses the memory twice, in program order
		}
		if both := a.e.Threads.Or(*g.e.Threads); both.Warps() == 1 {
			severity = diag.Review // one warp makes both accesses, and its lanes may be converged
		}
		if g.e.Kind == trace.GroupMultiply && *a.e.Threads == *g.e.Threads {
			severity = diag.Review // each warp may read only what it wrote itself
		}
	case fenceAfterBarrier:
		if a.e.Kind == trace.Copy {
			// Triton emits this order for cp.async: the reader executes the fence between the
			// writer's barrier and the read.
			return
		}
		severity = diag.Review
	case otherSpace:
		if rule == &ruleWrite || rule == &ruleGroup {
			rule = &ruleSpace
		}
	}
	if a.e.Kind == trace.Copy {
		// CUTLASS and Triton have kernels with a cp.async wait and a barrier but no fence.
		severity = diag.Review
	}
	p.Report(rule, g.e.In, "%[4]s: %[1]s %[2]s memory through the async proxy that was %[3]s "+
		"through the generic proxy", isa.Abbreviate(g.e.In.Op), what, did, reason(a)).
		As(severity).Also(a.e.In, "%s here", did).Also(a.fence, "the fence").Also(a.sync,
		"the barrier").On(t, i)
}

// reason describes what is missing after the generic access, for messages.
func reason(a *genericAccess) string {
	switch a.state {
	case fenced:
		return "missing barrier after fence.proxy.async"
	case orderedInWarp:
		return "only warp-level synchronization after fence.proxy.async"
	case fenceAfterBarrier:
		return "fence.proxy.async after the barrier instead of before it"
	case otherSpace:
		return "fence.proxy.async for the wrong state space"
	}
	if a.fence != nil {
		return "fence.proxy.async executed by only some of the threads"
	}
	return "missing fence.proxy.async"
}

// checkArrival checks that earlier generic accesses are fenced at an arrival if an async
// operation of other threads accesses the same memory.
func checkArrival(p *verify.Pass, t *trace.Trace, i int, list []*genericAccess,
	engines []*asyncOperation,
	loads []memory.Region, there *followedPairs) {
	e := &t.Events[i]
	if len(engines) == 0 {
		return
	}
	for _, a := range list {
		if a.state == ordered || a.state == orderedInWarp ||
			a.e.Threads.And(*e.Threads) == (value.Set{}) || a.state == fenced &&
			!arriveForOthers(a, e) {
			continue
		}
		if a.write && a.beforeWait && a.isOverwritten(loads) {
			continue // copies overwrite the memory before any read
		}
		for n := range engines {
			g := engines[n]
			if !overlaps(a, g) || there.has(t, i, a, g) || isFinished(p, t, a, g) {
				continue
			}
			rule, what := &ruleWrite, "written"
			if !a.write {
				rule, what = &ruleRead, "read"
			} else if g.e.Kind == trace.GroupMultiply {
				rule = &ruleGroup
			}
			f := p.Report(rule, e.In, "%[4]s: %[1]s releases shared memory that was %[2]s "+
				"through the generic proxy, and %[3]s accesses it through the async proxy",
				isa.Abbreviate(e.In.Op), what, isa.Abbreviate(g.e.In.Op), reason(a)).
				Also(a.e.In, "%s here", what).Also(a.fence, "the fence").Also(g.e.In,
				"the other access").On(t, i)
			switch {
			case a.state == otherSpace:
				f.Rule = ruleSpace.ID
			case a.state == fenced || a.state == fenceAfterBarrier || g.alwaysFenced:
				// The warp may be converged, and a fence after the barrier may suffice.
				f.As(diag.Review)
			}
			return
		}
	}
}
