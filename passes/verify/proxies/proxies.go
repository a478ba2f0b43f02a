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

// A mark records which fences and barriers have followed a plain access.
type mark uint8

const (
	bare     mark = iota // no fence and no barrier has followed
	exposed              // a barrier without a fence before it
	fenced               // a fence in the threads that made it
	settled              // a fence, then a barrier
	joined               // a fence, then a warp barrier
	late                 // a barrier, then a fence
	narrower             // a fence for another space only
)

// A plain is an access through the generic proxy that is being tracked.
type plain struct {
	e      *trace.Event
	region memory.Region
	write  bool
	state  mark
	fence  *ir.Instr // the fence, even if it was too late, for another space, or in other threads
	early  bool      // before any mbarrier wait
	remote bool      // to memory of another block of the cluster
	groups int       // for a copy in flight: number of groups committed since
	flying bool      // a copy that may be in flight; fences and barriers do not cover it
	sync   *ir.Instr // the barrier or arrival
}

func run(p *verify.Pass) {
	engines, each := engineRegions(p)
	there := &followedPairs{p: p}
	loads := filled(engines)
	for n, t := range p.Traces {
		var others []*engine
		for i := range engines {
			if engines[i].by.And(t.Threads) == (value.Set{}) {
				others = append(others, &engines[i])
			}
		}
		follow(p, t, others, each[n], loads, there)
		requests(p, t)
		if p.Needs(trace.MapEdit, trace.MapCopy) {
			maps(p, t)
		}
	}
}

// follow checks the plain accesses of one trace against the async operations on it (own) and, at
// arrivals, against those of other threads (engines).
func follow(p *verify.Pass, t *trace.Trace, engines, own []*engine, loads []memory.Region,
	there *followedPairs) {
	var list []*plain
	waited := false
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Load, trace.Store, trace.Atomic, trace.Clear, trace.Copy:
			n := len(list)
			if list = note(p, e, list); len(list) > n {
				list[n].early = !waited
			}
		case trace.CopyCommit, trace.CopyWait:
			completeCopies(e, list)
		case trace.Wait:
			list, waited = overwritten(list, loads), true
		case trace.ProxyFence:
			if e.Guard == nil && e.In.HasMod(isa.ModAsync, isa.ModAsyncGeneric) {
				fence(t, e, list)
			}
		case trace.BarrierSync, trace.BarrierArrive, trace.ClusterArrive, trace.Arrive,
			trace.WarpSync, trace.CopyArrive:
			if e.Kind == trace.Arrive || e.Kind == trace.BarrierArrive {
				checkArrival(p, t, i, list, engines, loads, there)
			}
			if e.Kind == trace.CopyArrive {
				completeCopies(e, list)
			}
			pass(e, list)
		default:
			if len(own) > 0 && own[0].e == e {
				checkOperation(p, t, i, own[0], list)
				own = own[1:]
			}
		}
	}
}

// note adds a plain access to shared memory.
func note(p *verify.Pass, e *trace.Event, list []*plain) []*plain {
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
			*a = plain{e: e, region: r, write: write, remote: remote, flying: e.Kind == trace.Copy}
			return list
		}
	}
	return append(list,
		&plain{e: e, region: r, write: write, remote: remote, flying: e.Kind == trace.Copy})
}

// completeCopies marks copies as complete if a wait covers them or they signal an mbarrier.
func completeCopies(e *trace.Event, list []*plain) {
	pending, counted := verify.Number(e, 0)
	counted = counted && e.In.Kind() == isa.KindCpAsyncWaitGroup
	for _, a := range list {
		switch {
		case !a.flying:
		case e.Kind == trace.CopyCommit:
			a.groups++
		case !counted, int64(a.groups) > pending:
			a.flying = false
		}
	}
}

// fence updates the accesses that a fence covers.
func fence(t *trace.Trace, e *trace.Event, list []*plain) {
	all := !e.In.HasMod(isa.ModAsync) || !e.In.HasMod(isa.ModGlobal)
	for _, a := range list {
		if a.flying || a.state == settled || a.state == joined || a.state == fenced {
			continue
		}
		a.fence = e.In
		switch {
		case !all, a.remote && e.In.HasMod(isa.ModSharedCTA):
			if a.state == bare || a.state == exposed {
				a.state = narrower
			}
		case a.e.Threads.And(t.Threads).Minus(*e.Threads) != value.Set{}:
			// Not all threads of the access execute the fence.
			if a.state == exposed {
				a.state = late
			}
		case a.state == exposed:
			a.state = late
		default:
			a.state = fenced
		}
	}
}

// pass updates the accesses that a barrier or an arrival makes visible.
func pass(e *trace.Event, list []*plain) {
	if e.Kind == trace.WarpSync && e.Threads.Warps() > 1 {
		for _, a := range list {
			if a.state == fenced && !a.flying {
				a.state, a.sync = joined, e.In
			}
		}
		return
	}
	for _, a := range list {
		if a.flying {
			continue
		}
		switch a.state {
		case bare:
			a.state, a.sync = exposed, e.In
		case fenced, joined, late:
			a.state, a.sync = settled, e.In
		}
	}
}

// checkOperation checks an async operation against the earlier plain accesses of the same trace.
func checkOperation(p *verify.Pass, t *trace.Trace, i int, g *engine, list []*plain) {
	rule := &ruleWrite
	if g.e.Kind == trace.GroupMultiply {
		rule = &ruleGroup
	}
	for _, a := range list {
		if a.state == settled {
			continue
		}
		for k := range g.reads {
			if sure, _ := g.reads[k].Meets(&a.region); a.write && sure &&
				a.onlyWarpBarrier(&g.reads[k]) {
				reportMissing(p, t, i, rule, g, a)
				break
			}
		}
		for k := range g.writes {
			// A plain write that the async operation overwrites is not needed.
			if sure, _ := g.writes[k].Meets(&a.region); !a.write && sure &&
				a.onlyWarpBarrier(&g.writes[k]) &&
				(g.e.Kind == trace.BulkLoad || g.e.Kind == trace.Answer) {
				reportMissing(p, t, i, &ruleRead, g, a)
				break
			}
		}
	}
}

// onlyWarpBarrier reports whether an async operation accesses a region that other warps accessed
// too, with nothing but a warp barrier in between.
func (a *plain) onlyWarpBarrier(r *memory.Region) bool {
	return a.state != joined || r.Crosses(&a.region, 32)
}

// reportMissing reports the fence or barrier that is missing between a plain access and an async
// operation.
func reportMissing(p *verify.Pass, t *trace.Trace, i int, rule *diag.Rule, g *engine, a *plain) {
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
			severity = diag.Review // both accesses are by one warp, whose lanes may be converged
		}
		if g.e.Kind == trace.GroupMultiply && *a.e.Threads == *g.e.Threads {
			severity = diag.Review // each warp may read only what it wrote itself
		}
	case late:
		if a.e.Kind == trace.Copy {
			// Triton's order for cp.async: the reader's fence is between the write and the read.
			return
		}
		severity = diag.Review
	case narrower:
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

// reason describes what is missing after the plain access, for messages.
func reason(a *plain) string {
	switch a.state {
	case fenced:
		return "missing barrier after fence.proxy.async"
	case joined:
		return "only warp-level synchronization after fence.proxy.async"
	case late:
		return "fence.proxy.async after the barrier instead of before it"
	case narrower:
		return "fence.proxy.async for the wrong state space"
	}
	if a.fence != nil {
		return "fence.proxy.async executed by only some of the threads"
	}
	return "missing fence.proxy.async"
}

// checkArrival checks an arrival: earlier plain accesses must be fenced if an async operation of
// other threads accesses the same memory.
func checkArrival(p *verify.Pass, t *trace.Trace, i int, list []*plain, engines []*engine,
	loads []memory.Region, there *followedPairs) {
	e := &t.Events[i]
	if len(engines) == 0 {
		return
	}
	for _, a := range list {
		if a.state == settled || a.state == joined ||
			a.e.Threads.And(*e.Threads) == (value.Set{}) || a.state == fenced &&
			!arriveForOthers(a, e) {
			continue
		}
		if a.write && a.early && a.isOverwritten(loads) {
			continue // copies overwrite it before anything reads it
		}
		for n := range engines {
			g := engines[n]
			if !touches(a, g) || there.has(t, i, a, g) {
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
			case a.state == narrower:
				f.Rule = ruleSpace.ID
			case a.state == fenced || a.state == late || g.behind:
				// The warp may be converged, and a fence after the barrier may suffice.
				f.As(diag.Review)
			}
			return
		}
	}
}
