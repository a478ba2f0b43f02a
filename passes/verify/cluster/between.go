// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A remoteAccess is an access to a variable in the shared memory of another block.
type remoteAccess struct { // number of cluster barriers before the access
	e      *trace.Event
	region memory.Region
	known  bool
	phase  int
	t      *trace.Trace
}

// checkBetween reports accesses of a block to its own shared memory between its arrival at the
// cluster barrier and its wait, if other blocks access the same variable before their arrival or
// after their wait. The barrier does not order such accesses.
func checkBetween(p *verify.Pass) {
	visits := make(map[*ir.Var][]remoteAccess)
	for _, t := range p.Traces {
		phase := 0
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.ClusterWait:
				phase++
			case trace.Load, trace.Store, trace.Atomic, trace.RemoteStore:
				if v := remoteVariable(e); v != nil {
					r, ok := p.Peer(e, memory.Bytes(e.In))
					visits[v] = append(visits[v], remoteAccess{e, r, ok && r.Sure, phase, t})
				}
			}
		}
	}
	if len(visits) == 0 {
		return
	}
	for _, t := range p.Traces {
		phase := 0
		var arrived *trace.Event
		for i := range t.Events {
			e := &t.Events[i]
			switch e.Kind {
			case trace.ClusterArrive:
				arrived = e
			case trace.ClusterWait:
				arrived = nil
				phase++
			case trace.Load, trace.Store, trace.Atomic:
				if r, ok := p.Access(e); ok && arrived != nil && r.Shared() {
					reportUnordered(p, t, i, arrived, &r, visits[r.Var()], phase)
				}
			}
		}
	}
}

// remoteVariable returns the variable on which the address of an access to another block's memory
// is based, or nil if the access is not remote or the variable is unknown.
func remoteVariable(e *trace.Event) *ir.Var {
	v := verify.Val(e, verify.Address(e.In, 0))
	if v == nil {
		return nil
	}
	for _, t := range v.Terms {
		if t.Atom.Op != value.OpMapa || t.Factor != 1 {
			continue
		}
		for _, u := range t.Atom.Args[0].Terms {
			if of, ok := u.Atom.Ref.(*ir.Var); ok && u.Atom.Op == value.OpVariable {
				return of
			}
		}
	}
	return nil
}

// reportUnordered reports event i, an access of r between an arrival and its wait, if an access
// by another block is not ordered with it.
func reportUnordered(p *verify.Pass, t *trace.Trace, i int, arrived *trace.Event, r *memory.Region,
	list []remoteAccess, phase int) {
	e := &t.Events[i]
	for k := range list {
		v := &list[k]
		if v.phase != phase && v.phase != phase+1 || e.Kind == trace.Load &&
			v.e.Kind == trace.Load || e.Kind == trace.Atomic && v.e.Kind == trace.Atomic ||
			!t.Facts.Agree(v.t.Facts) {
			continue
		}
		if sure, _ := v.region.Meets(r); v.known && r.Sure && !sure {
			continue
		}
		p.Report(&rulePlain, e.In, "shared-memory race in a cluster: shared memory is accessed "+
			"between barrier.cluster.arrive and barrier.cluster.wait while other blocks access "+
			"the same variable; nothing orders the two").
			Also(arrived.In, "the arrival at the cluster barrier").
			Also(v.e.In, "the access by other blocks").On(t, i)
		return
	}
}

// checkRanks reports block ranks that are not below the cluster size.
func checkRanks(p *verify.Pass) {
	if p.Cluster == 0 {
		return
	}
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			for n := range e.In.Args {
				if e.In.Args[n].Kind != ir.Address {
					continue
				}
				if rank := verify.Rank(verify.Val(e, n)); rank != nil && rank.Const() &&
					(rank.K < 0 || rank.K >= int64(p.Cluster)) {
					p.Report(&ruleEntry, e.In, "access to shared memory of block %d of the "+
						"cluster, but the cluster has %d blocks, numbered from 0", rank.K,
						p.Cluster).On(t, i)
				}
			}
			if mask := verify.Blocks(e); mask != nil && mask.Const() &&
				unsignedValue(mask)>>p.Cluster != 0 {
				p.Report(&ruleEntry, e.In, "%s: mask %#x names blocks that do not exist; the "+
					"cluster has %d", e.In.Head(), unsignedValue(mask), p.Cluster).On(t, i)
			}
		}
	}
}

// unsignedValue returns a constant as an unsigned integer of its width. Constants are stored
// sign-extended.
func unsignedValue(v *value.Value) uint64 {
	return uint64(v.K) & (1<<v.Width - 1)
}

// The page of this rule belongs to package schedule.
var rulePlain = verify.RuleWarpRace.As(diag.Review)
