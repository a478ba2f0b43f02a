// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A judged is the engines' operations that come behind plain accesses on their own traces, with a barrier of threads
// between. What is missing there is said there, and no arrival that comes later hands the same memory over to them.
type judged struct {
	p  *verify.Pass
	by map[passage]value.Set // the threads that come by, nil before anybody asked
}

// A passage is a plain access, the barrier behind it and an engine's operation behind that.
type passage struct{ access, barrier, engine *ir.Instr }

// has reports whether all threads that come to an engine's operation came by a plain access and the barrier behind it too,
// which the threads of a trace come to before an arrival or behind it.
func (j *judged) has(t *trace.Trace, i int, a *plain, g *engine) bool {
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
		j.by = make(map[passage]value.Set)
		for _, t := range j.p.Traces {
			j.collect(t)
		}
	}
	return g.by.Minus(j.by[passage{a.e.In, barrier, g.e.In}]) == (value.Set{})
}

// collect notes the passages of one trace.
func (j *judged) collect(t *trace.Trace) {
	var list []*plain
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Load, trace.Store, trace.Atomic, trace.Clear:
			list = note(j.p, e, list)
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
				if a.sync != nil && touches(a, g) {
					k := passage{a.e.In, a.sync, e.In}
					j.by[k] = j.by[k].Or(e.Threads)
				}
			}
		}
	}
}

// touches reports whether an engine works on what was accessed plainly, for certain.
func touches(a *plain, g *engine) bool {
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
