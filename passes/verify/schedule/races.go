// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"sort"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// reads records the shared memory that an asynchronous operation reads.
func (m *machine) reads(a *agent, e *trace.Event, operation int) {
	m.regions = m.p.AppendReads(m.regions[:0], e)
	for _, r := range m.regions {
		m.note(m.wide(&access{e: e, by: a, when: a.at + 1, operation: operation, block: a.block,
			region: r}))
		if m.p.Ranks > 1 && e.Kind != trace.GroupMultiply && e.In.HasMod(isa.ModCTAGroup2) {
			m.note(m.wide(&access{e: e, by: a, when: a.at + 1, operation: operation,
				block: a.block ^ 1, region: r}))
		}
	}
}

// wide returns an access of a tensor copy with its apparent size.
func (m *machine) wide(x *access) *access {
	if x.e.Kind != trace.BulkLoad && x.e.Kind != trace.BulkStore || !verify.Tensor(x.e.In) {
		return x
	}
	if n, ok := m.p.Extent(x.e); ok && n > x.region.Bytes {
		core := x.region
		x.core, x.region = &core, core.Grown(n)
	}
	return x
}

// note records an access, after it compares it with the earlier accesses that must precede it.
func (m *machine) note(x *access) {
	if !m.plain && !x.engine() && !m.near(x) {
		return
	}
	x.e = whole(x.by)
	if m.flags.used() {
		x.knows = slices.Clone(x.by.clock.agents)
	}
	r := m.accessIndex(x)
	if r.near(&x.region, !x.write, func(s *bucket) bool { return m.against(s, x) }) {
		return
	}
	if x.operation > 0 && !x.write && !x.tensor {
		r.near(&x.region, true, func(s *bucket) bool { return m.unfenced(r, s, x) })
	}
	in := row(x.region.High - x.region.Low)
	at, high := span(&x.region, in)
	if x.e.Kind == trace.GroupMultiply && r.at(in, at).shares(x) {
		return
	}
	m.noted++
	x.number = m.noted
	kept := m.freeList.access(x)
	r.written[in] = r.written[in] || x.write
	for ; at <= high; at++ {
		m.keep(r.at(in, at), kept)
	}
}

// shares reports whether another warp of the warpgroup made the same access as part of the same
// operation. One of them represents all, because they complete together.
func (s *bucket) shares(x *access) bool {
	return slices.ContainsFunc(s.agentLists, func(p *agentList) bool {
		n := len(p.bound.all)
		if n == 0 {
			return false
		}
		y := p.bound.all[n-1]
		return y.operation == x.operation && y.region.Low == x.region.Low &&
			y.region.High == x.region.High
	})
}

// near reports whether an async operation accesses memory near the memory that a thread accesses.
func (m *machine) near(x *access) bool {
	for _, r := range m.engines {
		if r.Root == x.region.Root && r.Low < x.region.High && x.region.Low < r.High {
			return true
		}
	}
	return false
}

// against reports the first access of a bucket that must be ordered before a new one but is not.
func (m *machine) against(s *bucket, x *access) bool {
	*m.work += (len(s.agentLists) + 3) / 4 // most lists are skipped immediately
	for _, p := range s.agentLists {
		// An agent's own accesses have completed up to the progress that the new access knows of.
		if own := p.own.facing(x); p.by != x.by && (x.engine() || p.by.home() != x.by.home()) {
			known := x.by.clock.agents[p.by.id]
			for _, y := range own[sort.Search(len(own), func(i int) bool {
				return own[i].when > known
			}):] {
				if m.collide(y, x) {
					return true
				}
			}
		}
		for _, y := range p.bound.facing(x) {
			if m.collide(y, x) {
				return true
			}
		}
	}
	return false
}

// collide reports an access that must be ordered before a new one but is not.
func (m *machine) collide(y, x *access) bool {
	*m.work++
	switch {
	case y.region.High <= x.region.Low || x.region.High <= y.region.Low || m.ordered(y, x):
		return false
	case !x.engine() && !y.engine() && (x.by.home() == y.by.home() || !m.racing(x, y)):
		return false
	case x.tensor && !x.lanes.Meets(y.lanes): // both are in tensor memory, which has separate roots
		return false
	case x.moves() && y.moves() && x.by.home() == y.by.home():
		return false
	case y.by == x.by && y.e.Kind == trace.BulkStore:
		return false // reported as A8
	case adds(x.e) && adds(y.e):
		return false // both are atomic, and may happen in any order
	case x.e.Kind == trace.TensorFree && y.operation == 0 && x.by.home() == y.by.home():
		return false // the same warp accesses the columns and then frees them
	}
	*m.work += 40
	if sure, _ := y.region.Meets(&x.region); !sure {
		return false
	}
	m.race(y, x)
	return true
}

// racing reports whether two accesses of threads must be ordered: both are plain, or one is plain
// and the other atomic.
//
// A volatile access does not order others either, unless it is to a flag.
func (m *machine) racing(x, y *access) bool {
	if xv, yv := volatile(x.e), volatile(y.e); xv || yv {
		if m.flags.flag(x) || m.flags.flag(y) {
			return false
		}
		return (xv || plain(x.e) || loose(x.e)) && (yv || plain(y.e) || loose(y.e))
	}
	return plain(x.e) && (plain(y.e) || loose(y.e)) || loose(x.e) && plain(y.e)
}

// volatile reports whether an access is a volatile one that certainly executes.
func volatile(e *trace.Event) bool {
	return e.Kind != trace.Atomic && e.Guard == nil && e.In.HasMod(isa.ModVolatile)
}

// loose reports whether an access is atomic but does not order threads.
func loose(e *trace.Event) bool {
	return e.Kind == trace.Atomic && e.Guard == nil &&
		!e.In.HasMod(isa.ModAcquire, isa.ModRelease, isa.ModAcqRel)
}

// plain reports whether an access does not order threads.
func plain(e *trace.Event) bool {
	return e.Kind != trace.Atomic && e.Guard == nil && weak(e.In)
}

// weak reports whether a load or store is neither volatile nor ordered.
func weak(in *ir.Instr) bool {
	if in.HasMod(isa.ModVolatile, isa.ModRelaxed, isa.ModAcquire, isa.ModRelease, isa.ModAcqRel,
		isa.ModMMIO) {
		return false
	}
	return in.Kind() != isa.KindAtom && in.Kind().Head() != isa.HeadRed
}

// adds reports whether an access is an asynchronous reduction to memory of another block.
func adds(e *trace.Event) bool {
	return e.Kind == trace.RemoteStore && e.In.Kind().Head() == isa.HeadRed
}

// engine reports whether an access is made by the async proxy or by a tensor core.
func (x *access) engine() bool { return x.operation > 0 || x.tensor }

// moves reports whether an access is a load or store of tensor memory. These access only the lanes
// of their own warp.
func (x *access) moves() bool {
	return x.e.Kind == trace.TensorLoad || x.e.Kind == trace.TensorStore
}

// ordered reports whether y has certainly completed when x starts.
func (m *machine) ordered(y, x *access) bool {
	k := x.by.clock
	if y.operation > 0 {
		if k.knows(y.operation) {
			return true
		}
		// Operations of one kind by one thread are executed in order.
		return x.operation > 0 && y.by == x.by &&
			(y.e.Kind == x.e.Kind || y.e.Kind == trace.BulkLoad && x.e.Kind == trace.BulkLoad)
	}
	return y.by == x.by || k.agents[y.by.id] >= y.when
}
