// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// meet records a barrier for all threads of the block, or of the cluster.
func (k *Kernel) meet(cluster bool) {
	if k.role == nil || slices.ContainsFunc(k.notes.Meetings, func(m ir.Meeting) bool {
		return m.Group == k.groups && m.Cluster == cluster && m.Role.First == k.role.first
	}) {
		return
	}
	k.notes.Meetings = append(k.notes.Meetings,
		ir.Meeting{Pos: k.m.calls.Here(), Role: k.role.note, Group: k.groups, Cluster: cluster})
}

// met records that warps wait or arrive at a named barrier.
func (k *Kernel) met(b NamedBarrier, waits bool) {
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

// byHand records the barrier number of an instruction written as text, and reports a number that
// NamedBarrier has reserved.
func (k *Kernel) byHand(kind isa.Kind, op string, operands []any) {
	at := 0
	switch kind {
	case isa.KindBarrierSync, isa.KindBarrierArrive:
	case isa.KindBarrierRed:
		at = 1 // the result comes first
	default:
		return
	}
	if at >= len(operands) {
		return
	}
	o, ok := known(operands[at])
	if !ok || o < 1 || o > 15 || slices.Contains(k.numbered, o) {
		return
	}
	if o <= int64(k.named) {
		k.fault(&ruleProtocol,
			"%s uses named barrier %d, which NamedBarrier has reserved; use numbered barriers before the first NamedBarrier",
			op, o)
		return
	}
	k.numbered = append(k.numbered, o)
}

// known returns the constant value of a Go number or of a Reg.
func known(x any) (int64, bool) {
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

// barrierRow reserves n named barriers with consecutive numbers.
func (k *Kernel) barrierRow(n, threads int) []NamedBarrier {
	for i := 1; i <= n; i++ {
		if at := k.named + i; slices.Contains(k.numbered, int64(at)) {
			k.named, i = at, 0
		}
	}
	list := make([]NamedBarrier, max(n, 1))
	for i := range list {
		list[i] = k.NamedBarrier(threads)
	}
	return list
}

// nextBarrier returns the lowest unused barrier number.
func (k *Kernel) nextBarrier() int {
	k.named++
	for slices.Contains(k.numbered, int64(k.named)) {
		k.named++
	}
	return k.named
}
