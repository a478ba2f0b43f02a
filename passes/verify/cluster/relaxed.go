// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A store is a plain store to shared memory, of this block or of another.
type store struct {
	e      *trace.Event
	region memory.Region
	away   bool
	met    bool // a block barrier follows it
}

// relaxed reports stores before a relaxed arrival at the cluster barrier that another block reads
// after its wait, or that were made to another block and are read there. All blocks of a cluster
// are assumed to do the same.
func relaxed(p *verify.Pass) {
	ahead := make(map[*ir.Instr][]store) // stores before each relaxed arrival
	for _, t := range p.Traces {
		var open []store
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.Store, trace.Atomic:
				if r, far, ok := accessedMemory(p, e); ok && e.Guard == nil {
					open = append(open, store{e: e, region: r, away: far})
				}
			case trace.Fence:
				if !e.In.HasMod(isa.ModCTA) {
					open = nil
				}
			case trace.BarrierSync:
				for n := range open {
					open[n].met = true
				}
			case trace.ClusterArrive:
				if e.In.HasMod(isa.ModRelaxed) {
					ahead[e.In] = append(ahead[e.In], open...)
				}
				open = nil
			}
		}
	}
	if len(ahead) == 0 {
		return
	}
	for _, t := range p.Traces {
		var arrived *trace.Event
		at, met := 0, false
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.ClusterArrive:
				arrived, at, met = e, i, false
				continue
			case trace.BarrierSync:
				met = true
			}
			if arrived == nil || len(ahead[arrived.In]) == 0 {
				continue
			}
			for _, u := range uses(p, e) {
				if s := u.invisibleStore(ahead[arrived.In], met); s != nil {
					where := "by another thread"
					if s.away != u.away {
						where = "in another block"
					}
					p.Report(&ruleRelaxed, arrived.In, "barrier.cluster.arrive.relaxed does not "+
						"order the store before it, but after the wait %s accesses the stored "+
						"data", e.In.Head()).
						Also(s.e.In, "stored here").Also(e.In, "accessed here, %s", where).On(t, at)
				}
			}
		}
	}
}

// checkRelaxedExit reports a relaxed cluster arrival if it is the last barrier between stores to
// another block's memory and the exit. Such an arrival does not guarantee that the other block
// still exists when the stores are performed. Loads have already completed at that point.
func checkRelaxedExit(p *verify.Pass, t *trace.Trace) {
	var last, use, arrived *trace.Event
	at := 0
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Fence:
			if !e.In.HasMod(isa.ModCTA) {
				last = nil
			}
		case trace.ClusterArrive:
			use, arrived, at = nil, e, i
			if e.In.HasMod(isa.ModRelaxed) {
				use = last
			}
			last = nil
		case trace.Store, trace.Atomic, trace.Arrive:
			if isRemote(p, t, e) {
				last, use = e, nil
			}
		case trace.Exit:
			if use != nil && e.Threads.And(t.Threads) != (value.Set{}) {
				p.Report(&ruleExit, arrived.In, "block exits while cluster peers may still be "+
					"accessed: the last cluster arrival is relaxed and does not order earlier "+
					"accesses to other blocks' shared memory").
					As(diag.Review).Also(use.In, "the earlier access").On(t, at)
				return
			}
		}
	}
}

// uses returns the shared memory that an event reads, directly or asynchronously.
func uses(p *verify.Pass, e *trace.Event) (list []store) {
	switch e.Kind {
	case trace.Load, trace.Atomic, trace.RemoteStore:
		if r, far, ok := accessedMemory(p, e); ok {
			list = append(list, store{region: r, away: far})
		}
	case trace.BulkLoad, trace.BulkStore:
		for _, r := range p.Reads(e) {
			list = append(list, store{region: r})
		}
	}
	return list
}

// invisibleStore returns a store that may not be visible to the given access. The store is made by
// another block, or by another thread with no block barrier since.
func (u *store) invisibleStore(list []store, met bool) *store {
	for i := range list {
		s := &list[i]
		if sure, _ := s.region.Meets(&u.region); !sure {
			continue
		}
		if s.away != u.away || !s.away && !s.met && !met && u.region.Foreign(&s.region, 1) {
			return s
		}
	}
	return nil
}

// accessedMemory returns the shared memory that a plain access uses, and whether it belongs to
// another block.
func accessedMemory(p *verify.Pass, e *trace.Event) (r memory.Region, far, ok bool) {
	if verify.Rank(verify.Val(e, verify.Address(e.In, 0))) != nil {
		r, ok = p.Peer(e, memory.Bytes(e.In))
		return r, true, ok
	}
	r, ok = p.Access(e)
	return r, false, ok && r.Shared()
}
