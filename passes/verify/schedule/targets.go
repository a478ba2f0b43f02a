// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A target is an mbarrier that threads of an agent access.
type target struct {
	o       *object
	threads int64 // number of threads that access it
	block   int   // block that contains it
}

// touched returns the mbarriers that an event accesses, in the blocks that its address names. If
// all blocks are assumed to do the same, it returns those of this block, with the accesses of the
// others. The list is valid until the next call.
func (m *machine) touched(a *agent, e *trace.Event) []target {
	list, _ := m.p.Objects(e, verify.Val(e, verify.Target(e)))
	out := m.targets[:0]
	for i := range list {
		at := &list[i]
		for _, block := range m.blocks(a.block, e, at) {
			threads := int64(at.Threads.Len())
			switch {
			case at.Rank == nil || at.First:
			case m.p.Ranks < 2:
				threads = m.here(at)
			default:
				threads = m.goes(at, block)
			}
			if o := m.objects[mbarrierPlace{block, at.Object}]; o != nil && threads > 0 {
				out = append(out, target{o, threads, block})
			}
		}
	}
	m.targets = out
	return out
}

// blocks returns the blocks of the cluster whose mbarrier an event may access, one entry per
// access. The list is valid until the next call.
func (m *machine) blocks(from int, e *trace.Event, at *verify.Touch) []int {
	switch {
	case m.p.Ranks < 2:
		m.some = append(m.some[:0], 0)
		return m.some
	case at.First:
		// Each destination block of a multicast signals the first block of its own pair.
		list := m.cast(from, e)
		for i := range list {
			list[i] &^= 1
		}
		return list
	case at.Rank == nil:
		return m.cast(from, e)
	case at.Rank.Const():
		m.some = append(m.some[:0], int(at.Rank.K))
		return m.some
	}
	return m.all()
}

// all returns every block of the cluster.
func (m *machine) all() []int {
	m.some = m.some[:0]
	for block := range m.p.Ranks {
		m.some = append(m.some, block)
	}
	return m.some
}

// goes returns how many threads of an access go to the given block.
func (m *machine) goes(at *verify.Touch, block int) int64 {
	n := int64(0)
	at.Threads.Each(func(t int) {
		if m.p.Pool.At(at.Rank, t) == int64(block) {
			n++
		}
	})
	return n
}

// cast returns the destination blocks of an async operation: those of a mask, or its own.
func (m *machine) cast(from int, e *trace.Event) []int {
	if m.p.Ranks < 2 || !verify.Multicast(e.In) && !e.In.HasMod(isa.ModMulticastClusterAll) {
		m.some = append(m.some[:0], from)
		return m.some
	}
	mask := verify.Blocks(e)
	if mask == nil || !mask.Const() {
		return m.all()
	}
	return slices.DeleteFunc(m.all(), func(block int) bool { return mask.K>>block&1 == 0 })
}

// away returns the block of the cluster in which an address lies.
func (m *machine) away(a *agent, e *trace.Event) (block int, ok bool) {
	rank := verify.Rank(verify.Val(e, verify.Address(e.In, 0)))
	if m.p.Ranks < 2 || !rank.Const() || rank.K < 0 || rank.K >= int64(m.p.Ranks) {
		return 0, false
	}
	return int(rank.K), true
}

// here returns the number of arrivals that this block receives if all blocks of the cluster execute
// the same code as these threads.
func (m *machine) here(at *verify.Touch) int64 {
	size := max(1, m.p.Cluster)
	if at.Rank.Tid() {
		return m.goes(at, 0) * int64(size)
	}
	return int64(at.Threads.Len())
}
