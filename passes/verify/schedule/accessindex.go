// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A baseSpace is the memory of a block relative to one base address.
type baseSpace struct {
	block int
	root  *value.Value
}

// An accessIndex finds accesses by address. Each row has buckets of one size. An access is in at
// most two buckets of the row for its length.
type accessIndex struct {
	baseSpace
	freeList *freeList
	rows     [rows][]*bucket // for each row, its used buckets in order of their numbers
	written  [rows]bool      // rows with accesses that write
}

// The buckets of the first row have 1<<least bytes, those of each further row twice as many. The
// last row has one bucket for all longer accesses.
const (
	least = 4
	rows  = 16
)

// row returns the row for accesses of a size.
func row(size int64) int {
	return min(max(bits.Len64(uint64(size-1))-least, 0), rows-1)
}

// span returns the first and last bucket number of a row that overlap a region.
func span(r *memory.Region, row int) (low, high int64) {
	if row == rows-1 {
		return 0, 0
	}
	return r.Low >> (least + row), (r.High - 1) >> (least + row)
}

// accessIndex returns the index of the memory of an access. There are few.
func (m *machine) accessIndex(x *access) *accessIndex {
	for _, r := range m.indexes {
		if r.root == x.region.Root && r.block == x.block {
			return r
		}
	}
	r := &accessIndex{baseSpace: baseSpace{x.block, x.region.Root}, freeList: m.freeList}
	m.indexes = append(m.indexes, r)
	return r
}

// near calls visit for all buckets that may contain an access that overlaps a region, until visit
// returns true. If writes is set, only accesses that write matter.
func (r *accessIndex) near(x *memory.Region, writes bool, visit func(*bucket) bool) bool {
	for i, list := range r.rows {
		if len(list) == 0 || writes && !r.written[i] {
			continue
		}
		low, high := span(x, i)
		for _, s := range list[from(list, low):] {
			if s.number > high {
				break
			}
			if visit(s) {
				return true
			}
		}
	}
	return false
}

// from returns the position of the first bucket whose number is at least low.
func from(list []*bucket, low int64) int {
	at, end := 0, len(list)
	for at < end {
		if half := (at + end) / 2; list[half].number < low {
			at = half + 1
		} else {
			end = half
		}
	}
	return at
}

// at returns the bucket with a number in a row.
func (r *accessIndex) at(row int, number int64) *bucket {
	list := r.rows[row]
	i := from(list, number)
	if i == len(list) || list[i].number != number {
		list = slices.Insert(list, i, r.freeList.bucket(number))
		r.rows[row] = list
	}
	return list[i]
}

// A bucket holds the accesses to a range of bytes, by agent. Accesses that every running agent
// knows of are dropped, so that a bucket is empty after a block barrier.
type bucket struct {
	number     int64
	agentLists []*agentList
	// Writes, also dropped ones: async operations must not read them without a fence.
	old    []*access
	stored bool // threads wrote some of these
	size   int  // total length of all lists
	most   int  // size at which the lists are pruned
	round  int  // round of the last pruning
}

// An agentList holds the accesses of one agent in program order: its own, and those of its
// asynchronous operations.
type agentList struct {
	by         *agent
	own, bound accesses
}

// accesses holds accesses, and separately those that write. Reads are compared only with writes.
type accesses struct{ all, writes []*access }

func (l *accesses) add(x *access) {
	l.all = append(l.all, x)
	if x.write {
		l.writes = append(l.writes, x)
	}
}

// facing returns the earlier accesses with which x must be compared.
func (l *accesses) facing(x *access) []*access {
	if x.write {
		return l.all
	}
	return l.writes
}

// agentList returns the list of an agent.
func (s *bucket) agentList(by *agent, freeList *freeList) *agentList {
	for _, p := range s.agentLists {
		if p.by == by {
			return p
		}
	}
	p := freeList.agentList(by)
	s.agentLists = append(s.agentLists, p)
	return p
}

// keep adds an access to a bucket.
func (m *machine) keep(s *bucket, x *access) {
	p := s.agentList(x.by, m.freeList)
	if x.operation > 0 {
		p.bound.add(x)
	} else {
		p.own.add(x)
	}
	s.size++
	if x.write && len(m.engines) > 0 {
		s.old = append(s.old, x)
		s.stored = s.stored || x.exposes()
	}
	if n := s.size; n > s.most || n > few && s.round != m.round {
		*m.work += n
		s.size = 0
		for _, p := range s.agentLists {
			for _, l := range []*accesses{&p.own, &p.bound} {
				l.all = m.tidy(l.all, true)
				l.writes = m.tidy(l.writes, true)
				s.size += len(l.all)
			}
		}
		s.old = m.tidy(s.old, false)
		s.most, s.round = max(few, 2*s.size), m.round
	}
}

// few is the number of accesses that a bucket may hold before it is pruned.
const few = 16

// tidy removes accesses that the same instruction of the same agent has repeated since. If known is
// set, it also removes those that all agents know of.
func (m *machine) tidy(list []*access, known bool) []*access {
	type deed struct {
		by        *agent
		in        *ir.Instr
		low, high int64
	}
	const short = 32 // length up to which a linear search is faster than a map
	var again map[deed]*access
	if len(list) > short {
		again = make(map[deed]*access, len(list))
	}
	at := len(list)
	for _, x := range slices.Backward(list) {
		k := deed{x.by, x.e.In, x.region.Low, x.region.High}
		var later *access
		if again != nil {
			later = again[k]
		} else if i := slices.IndexFunc(list[at:], func(y *access) bool {
			return y.by == k.by && y.e.In == k.in && y.region.Low == k.low &&
				y.region.High == k.high
		}); i >= 0 {
			later = list[at+i]
		}
		if later != nil && later.write == x.write && (x.operation == 0 || m.ordered(x, later)) ||
			known && m.common(x) {
			continue
		}
		if again != nil {
			again[k] = x
		}
		at--
		list[at] = x
	}
	n := copy(list, list[at:])
	clear(list[n:])
	return list[:n]
}

// common reports whether x is ordered before every later access, because all running agents know of
// it.
func (m *machine) common(x *access) bool {
	if x.operation > 0 {
		return !slices.ContainsFunc(m.agents,
			func(a *agent) bool { return !a.left && !a.clock.knows(x.operation) })
	}
	if m.floored != m.joins {
		m.floored = m.joins
		m.updateFloor()
	}
	return m.floor[x.by.id] >= x.when
}

// updateFloor computes, for each agent, the progress that all other running agents know of.
func (m *machine) updateFloor() {
	*m.work += len(m.agents) * len(m.agents) / 8
	m.floor = slices.Repeat([]int{math.MaxInt}, len(m.agents))
	for _, a := range m.agents {
		if a.left {
			continue
		}
		for i, n := range a.clock.agents {
			if i != a.id {
				m.floor[i] = min(m.floor[i], n)
			}
		}
	}
}
