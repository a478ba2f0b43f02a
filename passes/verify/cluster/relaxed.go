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

// A sharedAccess is a plain access to the shared memory of this block or of another block.
type sharedAccess struct {
	e            *trace.Event
	region       memory.Region
	remote       bool // the memory belongs to another block
	synchronized bool // a block barrier follows the access
}

// checkRelaxed reports stores before a relaxed arrival at the cluster barrier that may not be
// visible after the wait: another block reads the stored bytes, or the bytes belong to another
// block and are read there. All blocks of a cluster are assumed to execute the same code.
func checkRelaxed(p *verify.Pass) {
	ahead := make(map[*ir.Instr][]sharedAccess) // stores before each relaxed arrival
	for _, t := range p.Traces {
		var open []sharedAccess
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.Store, trace.Atomic:
				if r, far, ok := accessedMemory(p, e); ok && e.Guard == nil {
					open = append(open, sharedAccess{e: e, region: r, remote: far})
				}
			case trace.Fence:
				if !e.In.HasMod(isa.ModCTA) {
					open = nil
				}
			case trace.BarrierSync:
				for n := range open {
					open[n].synchronized = true
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
			for _, u := range sharedReads(p, e) {
				if s := u.invisibleStore(ahead[arrived.In], met); s != nil {
					where := "by another thread"
					if s.remote != u.remote {
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

// sharedReads returns the shared memory that an event reads, directly or asynchronously.
func sharedReads(p *verify.Pass, e *trace.Event) (list []sharedAccess) {
	switch e.Kind {
	case trace.Load, trace.Atomic, trace.RemoteStore:
		if r, far, ok := accessedMemory(p, e); ok {
			list = append(list, sharedAccess{region: r, remote: far})
		}
	case trace.BulkLoad, trace.BulkStore:
		for _, r := range p.Reads(e) {
			list = append(list, sharedAccess{region: r})
		}
	}
	return list
}

// invisibleStore returns a store of the list that may not be visible to the access u, or nil.
// Another block makes the store, or another thread with no block barrier after it.
func (u *sharedAccess) invisibleStore(list []sharedAccess, met bool) *sharedAccess {
	for i := range list {
		s := &list[i]
		if sure, _ := s.region.Meets(&u.region); !sure {
			continue
		}
		if s.remote != u.remote || !s.remote && !s.synchronized && !met &&
			u.region.Foreign(&s.region, 1) {
			return s
		}
	}
	return nil
}

// accessedMemory returns the shared memory that a plain access uses. far reports whether the
// memory belongs to another block; ok is false if the access is not to shared memory or its
// address is unknown.
func accessedMemory(p *verify.Pass, e *trace.Event) (r memory.Region, far, ok bool) {
	if verify.Rank(verify.Val(e, verify.Address(e.In, 0))) != nil {
		r, ok = p.Peer(e, memory.Bytes(e.In))
		return r, true, ok
	}
	r, ok = p.Access(e)
	return r, false, ok && r.Shared()
}
