// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// noteBlockBarrier annotates the first barrier for all threads of the block, or of the cluster if
// cluster is set, in each role. Such a barrier must occur in every role.
func (k *Kernel) noteBlockBarrier(cluster bool) {
	if k.role == nil || slices.ContainsFunc(k.notes.Meetings, func(m ir.Meeting) bool {
		return m.Group == k.groups && m.Cluster == cluster && m.Role.First == k.role.first
	}) {
		return
	}
	k.notes.Meetings = append(k.notes.Meetings,
		ir.Meeting{Pos: k.m.calls.Here(), Role: k.role.note, Group: k.groups, Cluster: cluster})
}

// noteNamedBarrier records a wait on named barrier b, or the first arrival if waits is false.
func (k *Kernel) noteNamedBarrier(b NamedBarrier, waits bool) {
	if id := b.id & 15; waits {
		k.awaited |= 1 << id
	} else if k.arrivals[id] == ir.NoPos {
		k.arrivals[id] = k.m.calls.Here()
	}
}

// noteArrivals annotates the named barriers that have arrivals but no wait.
func (k *Kernel) noteArrivals() {
	for id, pos := range k.arrivals {
		if pos != ir.NoPos && k.awaited>>id&1 == 0 {
			k.notes.Arrivals = append(k.notes.Arrivals, ir.Arrival{Pos: pos, Barrier: id})
		}
	}
}

// noteBarrierNumber records the barrier number of a barrier instruction written with Ins, and
// reports a number that NamedBarrier has reserved.
func (k *Kernel) noteBarrierNumber(kind isa.Kind, op string, operands []any) {
	at := 0
	switch kind {
	case isa.KindBarrierSync, isa.KindBarrierArrive:
	case isa.KindBarrierRed:
		at = 1 // the result precedes the barrier number
	default:
		return
	}
	if at >= len(operands) {
		return
	}
	o, ok := constantInt(operands[at])
	if !ok || o < 1 || o > 15 || slices.Contains(k.textBarriers, o) {
		return
	}
	if o <= int64(k.lastBarrier) {
		k.fault(&ruleProtocol,
			"%s uses named barrier %d, which NamedBarrier has reserved; use numbered barriers before the first NamedBarrier",
			op, o)
		return
	}
	k.textBarriers = append(k.textBarriers, o)
}

// constantInt returns the value of a Go integer, or of a Reg that is constant. ok is false for
// other operands.
func constantInt(x any) (int64, bool) {
	switch x := x.(type) {
	case int:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case uint32:
		return int64(x), true
	case Reg[U32]:
		return x.bits, x.IsConstant()
	case Reg[S32]:
		return x.bits, x.IsConstant()
	}
	return 0, false
}

// barrierRow reserves n named barriers with consecutive numbers, for the given number of threads
// each.
func (k *Kernel) barrierRow(n, threads int) []NamedBarrier {
	for i := 1; i <= n; i++ {
		if at := k.lastBarrier + i; slices.Contains(k.textBarriers, int64(at)) {
			k.lastBarrier, i = at, 0
		}
	}
	list := make([]NamedBarrier, max(n, 1))
	for i := range list {
		list[i] = k.NamedBarrier(threads)
	}
	return list
}

// syncGroup waits for the threads of a warpgroup, at one of several named barriers.
func (k *Kernel) syncGroup(barriers []NamedBarrier, group Reg[U32]) {
	if len(barriers) == 1 {
		barriers[0].Sync()
		return
	}
	k.ins("bar.sync", group.AddI(int64(barriers[0].id)).register().in(k), number(128))
}

// nextBarrier reserves the lowest unused barrier number and returns it.
func (k *Kernel) nextBarrier() int {
	k.lastBarrier++
	for slices.Contains(k.textBarriers, int64(k.lastBarrier)) {
		k.lastBarrier++
	}
	return k.lastBarrier
}
