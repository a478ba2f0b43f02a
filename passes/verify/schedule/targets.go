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
	o       *mbarrier
	threads int64 // number of threads that access the mbarrier
	block   int   // block that contains the mbarrier
}

// targets returns the mbarriers that an event accesses, in the blocks that its address names. If
// the blocks of a cluster are not simulated separately, it returns the mbarriers of this block,
// with the accesses of all blocks. The list is valid until the next call.
func (m *machine) targets(a *agent, e *trace.Event) []target {
	list, _ := m.p.Objects(e, verify.Val(e, verify.Target(e)))
	out := m.targetList[:0]
	for i := range list {
		at := &list[i]
		for _, block := range m.targetBlocks(a.block, e, at) {
			threads := int64(at.Threads.Len())
			switch {
			case at.Rank == nil || at.First:
			case m.p.Ranks < 2:
				threads = m.countReceived(at)
			default:
				threads = m.countToBlock(at, block)
			}
			if o := m.mbarriers[mbarrierPlace{block, at.Object}]; o != nil && threads > 0 {
				out = append(out, target{o, threads, block})
			}
		}
	}
	m.targetList = out
	return out
}

// targetBlocks returns the blocks of the cluster whose mbarrier an event may access, one entry
// per access. The list is valid until the next call.
func (m *machine) targetBlocks(from int, e *trace.Event, at *verify.Touch) []int {
	switch {
	case m.p.Ranks < 2:
		m.blockList = append(m.blockList[:0], 0)
		return m.blockList
	case at.First:
		// Each destination block of a multicast signals the first block of its own pair.
		list := m.destinationBlocks(from, e)
		for i := range list {
			list[i] &^= 1
		}
		return list
	case at.Rank == nil:
		return m.destinationBlocks(from, e)
	case at.Rank.Const():
		m.blockList = append(m.blockList[:0], int(at.Rank.K))
		return m.blockList
	}
	return m.allBlocks()
}

// allBlocks returns every block of the cluster. The list is valid until the next call.
func (m *machine) allBlocks() []int {
	m.blockList = m.blockList[:0]
	for block := range m.p.Ranks {
		m.blockList = append(m.blockList, block)
	}
	return m.blockList
}

// countToBlock returns how many threads of an access address the given block.
func (m *machine) countToBlock(at *verify.Touch, block int) int64 {
	n := int64(0)
	at.Threads.Each(func(t int) {
		if m.p.Pool.At(at.Rank, t) == int64(block) {
			n++
		}
	})
	return n
}

// destinationBlocks returns the destination blocks of an async operation: the blocks in its mask,
// or the executing block.
func (m *machine) destinationBlocks(from int, e *trace.Event) []int {
	if m.p.Ranks < 2 || !verify.Multicast(e.In) && !e.In.HasMod(isa.ModMulticastClusterAll) {
		m.blockList = append(m.blockList[:0], from)
		return m.blockList
	}
	mask := verify.Blocks(e)
	if mask == nil || !mask.Const() {
		return m.allBlocks()
	}
	return slices.DeleteFunc(m.allBlocks(), func(block int) bool { return mask.K>>block&1 == 0 })
}

// addressedBlock returns the block of the cluster in which an address lies. ok is false if the
// block is unknown or clusters are not simulated.
func (m *machine) addressedBlock(a *agent, e *trace.Event) (block int, ok bool) {
	rank := verify.Rank(verify.Val(e, verify.Address(e.In, 0)))
	if m.p.Ranks < 2 || !rank.Const() || rank.K < 0 || rank.K >= int64(m.p.Ranks) {
		return 0, false
	}
	return int(rank.K), true
}

// countReceived returns the number of arrivals that this block receives if all blocks of the
// cluster execute the same code as these threads.
func (m *machine) countReceived(at *verify.Touch) int64 {
	size := max(1, m.p.Cluster)
	if at.Rank.Tid() {
		return m.countToBlock(at, 0) * int64(size)
	}
	return int64(at.Threads.Len())
}
