// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// followedPairs caches which async operations follow generic accesses on the same trace, with a
// thread barrier between them. A missing fence is reported at such an operation, so it is not
// reported again at a later arrival for the same memory.
type followedPairs struct {
	p  *verify.Pass
	by map[unfencedPath]value.Set // threads of each path; nil until has is called
}

// An unfencedPath is a generic access, the barrier after it, and an async operation after the
// barrier.
type unfencedPath struct{ access, barrier, engine *ir.Instr }

// has reports whether all threads that issue async operation g have also executed generic access
// a and the barrier after it. If a has no barrier yet, the barrier is the first one from event i
// of trace t.
func (j *followedPairs) has(t *trace.Trace, i int, a *genericAccess, g *asyncOperation) bool {
	barrier := a.sync
	for ; barrier == nil && i < len(t.Events); i++ {
		if t.Events[i].Kind == trace.BarrierSync {
			barrier = t.Events[i].In
		}
	}
	if barrier == nil {
		return false
	}
	if j.by == nil {
		j.by = make(map[unfencedPath]value.Set)
		for _, t := range j.p.Traces {
			j.collect(t)
		}
	}
	return g.by.Minus(j.by[unfencedPath{a.e.In, barrier, g.e.In}]) == (value.Set{})
}

// collect records the unfenced paths of one trace.
func (j *followedPairs) collect(t *trace.Trace) {
	var list []*genericAccess
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Load, trace.Store, trace.Atomic, trace.Clear:
			list = addAccess(j.p, e, list)
		case trace.BarrierSync:
			for _, a := range list {
				if a.sync == nil {
					a.sync = e.In
				}
			}
		default:
			g := engineOf(j.p, e)
			if g == nil {
				continue
			}
			for _, a := range list {
				if a.sync != nil && overlaps(a, g) {
					k := unfencedPath{a.e.In, a.sync, e.In}
					j.by[k] = j.by[k].Or(*e.Threads)
				}
			}
		}
	}
}

// overlaps reports whether an async operation certainly accesses memory that a generic access
// wrote, or writes memory that it read.
func overlaps(a *genericAccess, g *asyncOperation) bool {
	regions := g.reads
	if !a.write {
		regions = g.writes
	}
	for k := range regions {
		if sure, _ := regions[k].Meets(&a.region); sure {
			return true
		}
	}
	return false
}
