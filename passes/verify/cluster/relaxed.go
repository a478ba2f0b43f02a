// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A store is a plain one to shared memory, of this block or of another.
type store struct {
	e      *trace.Event
	region memory.Region
	away   bool
}

// relaxed looks for stores ahead of a relaxed arrival at the cluster's barrier that another block reads behind it, or whose
// place this one reads where the store went there. Blocks of a cluster are taken to do alike.
func relaxed(p *verify.Pass) {
	ahead := make(map[*ir.Instr][]store) // of each relaxed arrival
	for _, t := range p.Traces {
		var open []store
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.Store:
				if r, far, ok := place(p, e); ok && e.Guard == nil {
					open = append(open, store{e, r, far})
				}
			case trace.Fence:
				if !e.In.Mod("cta") {
					open = nil
				}
			case trace.ClusterArrive:
				if e.In.Mod("relaxed") {
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
		at := 0
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.ClusterArrive:
				arrived, at = e, i
			case trace.Load, trace.Atomic, trace.RemoteStore:
				if arrived == nil {
					continue
				}
				r, far, ok := place(p, e)
				for _, s := range ahead[arrived.In] {
					if sure, _ := s.region.Meets(&r); ok && sure && s.away != far {
						p.Report(&ruleRelaxed, arrived.In, "a relaxed arrival publishes nothing, and behind it %s works on what was stored before", e.In.Head()).
							Also(s.e.In, "stored here").Also(e.In, "used here, in another block").On(t, at)
						break
					}
				}
			}
		}
	}
}

// place is the shared memory that a plain access works on, and whether it is that of another block.
func place(p *verify.Pass, e *trace.Event) (r memory.Region, far, ok bool) {
	if verify.Rank(verify.Val(e, verify.Address(e.In, 0))) != nil {
		r, ok = p.Peer(e, memory.Bytes(e.In))
		return r, true, ok
	}
	r, ok = p.Access(e)
	return r, false, ok && r.Shared()
}
