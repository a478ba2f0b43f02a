// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A laneAccess is a plain access to shared memory by lanes of one warp.
type laneAccess struct {
	e      *trace.Event
	region memory.Region
	after  *trace.Event // a later warp-wide instruction that does not order memory, or nil
	// groups of lanes that a later bar.warp.sync synchronized; nil if no bar.warp.sync split the
	// warp
	groups []value.Set
}

// A pair is two instructions whose accesses are compared.
type pair struct{ first, second *ir.Instr }

// At most maxOpenAccesses accesses since the last warp barrier are compared, and each pair of
// instructions at most maxComparisons times, because unrolled loops repeat them.
const (
	maxOpenAccesses = 64
	maxComparisons  = 4
)

// checkExchanges reports shared memory through which the lanes of one warp exchange data, or
// which they reuse, without synchronization. One warp represents all warps of a trace. The check
// must know which threads form a warp, so multidimensional blocks must have a known shape.
func checkExchanges(p *verify.Pass) {
	if !p.Shares || unknownShape(p) {
		return
	}
	compared := make(map[pair]int)
	for _, t := range p.Traces {
		var lanes value.Set
		w := t.Threads
		warp := w.Least() / 32
		lanes[warp/2] = uint64(w.Lanes(warp)) << (warp % 2 * 32)
		if lanes.Len() < 2 {
			continue
		}
		checkExchangesOf(p, t, lanes, compared)
	}
}

// checkExchangesOf compares the accesses that the given lanes of one warp make on a trace.
func checkExchangesOf(p *verify.Pass, t *trace.Trace, lanes value.Set, compared map[pair]int) {
	var open []laneAccess
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != trace.Load && e.Kind != trace.Store {
			open = unorderedAfter(p, e, lanes, open)
			continue
		}
		if !isPlain(e) {
			continue
		}
		one := e.Within(lanes)
		r, ok := p.Access(&one)
		if !ok || !r.Sure {
			continue
		}
		for k := range open {
			o := &open[k]
			at := pair{o.e.In, e.In}
			if o.e.Kind == trace.Load && e.Kind == trace.Load || o.e.In == e.In ||
				compared[at] >= maxComparisons {
				continue // a store is not compared with its own other iterations
			}
			if sure, _ := r.Meets(&o.region); !sure {
				continue
			}
			if o.e.Kind == trace.Load && o.after != nil {
				continue // the lanes exchanged the loaded values, so the loads are complete
			}
			compared[at]++
			if isUnsynchronized(p, o, &one, &r) && !p.Example(t, e, o.e) {
				reportExchange(p, t, i, o)
				break
			}
		}
		if len(open) == maxOpenAccesses {
			open = open[:copy(open, open[1:])]
		}
		open = append(open, laneAccess{e: e, region: r})
	}
}

// isUnsynchronized reports whether different lanes make the two accesses o and one, with no
// bar.warp.sync between them that includes both lanes.
func isUnsynchronized(p *verify.Pass, o *laneAccess, one *trace.Event, r *memory.Region) bool {
	if o.groups == nil {
		return isCrossLane(o, r, &o.region)
	}
	for _, g := range o.groups {
		inside, outside := one.Within(g), o.e.Within(one.Threads.Warp(p.Pool.All()).Minus(g))
		if inside.Threads.Empty() || outside.Threads.Empty() {
			continue
		}
		a, ok := p.Access(&inside)
		b, also := p.Access(&outside)
		if sure, _ := a.Meets(&b); ok && also && sure && isCrossLane(o, &a, &b) {
			return true
		}
	}
	return false
}

// isCrossLane reports whether some lane accesses bytes of r that another lane accessed earlier in
// b. If the earlier access is a load, any other lane counts, because it may still be reading. If
// it is a store, only bytes that the lane itself did not store count.
func isCrossLane(o *laneAccess, r, b *memory.Region) bool {
	if o.e.Kind == trace.Load { // other lanes may still be reading
		return r.Crosses(b, 1)
	}
	return r.Foreign(b, 1)
}

// unorderedAfter returns the accesses of open that event e does not order for all lanes of the
// warp.
func unorderedAfter(p *verify.Pass, e *trace.Event, lanes value.Set,
	open []laneAccess) []laneAccess {
	switch {
	case e.Kind == trace.Collective:
		for k := range open {
			if open[k].after == nil {
				open[k].after = e
			}
		}
		return open
	case !synchronizesLanes(e):
		return open
	case e.Kind == trace.WarpSync && len(open) > 0:
		if groups := syncGroups(p, e, lanes); groups != nil {
			for k := range open {
				if open[k].groups == nil {
					open[k].groups = groups
				}
			}
			return open
		}
	}
	return open[:0]
}

// syncGroups returns the groups of lanes that a bar.warp.sync synchronizes, in ascending order,
// or nil if the member masks are unknown or include all lanes.
func syncGroups(p *verify.Pass, e *trace.Event, lanes value.Set) (groups []value.Set) {
	mask := verify.Val(e, len(e.Vals)-1)
	if mask == nil || !mask.Tid() {
		return nil
	}
	all := e.Threads.And(lanes)
	warp := all.Least() / 32
	of := make(map[uint32]bool)
	all.Each(func(t int) { of[uint32(p.Pool.At(mask, t))] = true })
	for m := range of {
		var g value.Set
		g[warp/2] = uint64(m) << (warp % 2 * 32)
		if g = g.And(all); g == all {
			return nil
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b value.Set) int { return a.Least() - b.Least() })
	return groups
}

// unknownShape reports whether the block may have several dimensions but its shape is unknown. It
// is then unknown which threads form a warp.
func unknownShape(p *verify.Pass) bool {
	return !p.Pool.Exact && p.Pool.Shape[1]*p.Pool.Shape[2] > 1
}

// reportExchange reports that event i accesses shared memory that another lane accesses in o,
// without synchronization between them.
func reportExchange(p *verify.Pass, t *trace.Trace, i int, o *laneAccess) {
	e := &t.Events[i]
	does, did := "reads", "writes"
	if e.Kind == trace.Store {
		does = "writes"
	}
	if o.e.Kind == trace.Load {
		did = "reads"
	}
	why := "without bar.warp.sync in between"
	switch {
	case o.groups != nil:
		why = "and the member mask of the bar.warp.sync in between does not name both"
	case o.after != nil:
		why = "and the " + o.after.In.Head() + ".sync in between does not order memory"
	}
	f := p.Report(&ruleExchange, e.In, "shared-memory race within a warp: a lane %s shared memory "+
		"that another lane %s, %s", does, did, why).
		Also(o.e.In, "the other access").On(t, i)
	polled := e.In.HasMod(isa.ModVolatile) || o.e.In.HasMod(isa.ModVolatile)
	if o.after != nil && o.groups == nil || !p.Pool.Exact || polled || mayHoldLock(t, i) {
		f.As(diag.Review)
	}
}

// An acquireSearch looks for events with acquire semantics. It does not determine what they
// order.
type acquireSearch struct{ read bool }

// acquires reports whether an event has acquire semantics: it has an acquire modifier, or it is a
// fence after a strong read.
func (a *acquireSearch) acquires(e *trace.Event) bool {
	if e.In == nil {
		return false
	}
	switch head := e.In.Kind().Head(); head {
	case isa.HeadLd, isa.HeadAtom:
		if e.In.HasMod(isa.ModAcquire, isa.ModAcqRel) {
			return true
		}
		a.read = a.read || head == isa.HeadAtom || e.In.HasMod(isa.ModRelaxed, isa.ModVolatile)
	case isa.HeadFence:
		return a.read && e.In.Kind() != isa.KindFenceProxy
	}
	return false
}

// synchronizesLanes reports whether the lanes that execute an event are synchronized after it.
func synchronizesLanes(e *trace.Event) bool {
	switch e.Kind {
	case trace.WarpSync, trace.BarrierSync, trace.ClusterWait, trace.Wait:
		return true
	}
	return e.In != nil && e.In.HasMod(isa.ModAligned)
}

// isPlain reports whether all lanes make an access and its memory semantics do not order threads.
// A volatile access counts as plain.
func isPlain(e *trace.Event) bool {
	return e.Guard == nil &&
		!e.In.HasMod(isa.ModRelaxed, isa.ModAcquire, isa.ModRelease, isa.ModMMIO)
}

var ruleExchange = verify.RuleLaneRace
