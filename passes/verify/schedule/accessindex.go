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

// A baseSpace identifies the memory of a block at addresses relative to one base address.
type baseSpace struct {
	block int
	root  *value.Value
}

// An accessIndex finds accesses by address. It has several rows of buckets; all buckets of a row
// span the same number of bytes. An access is in at most two buckets, in the row for its length.
type accessIndex struct {
	baseSpace
	freeList *freeList
	rows     [numRows][]*bucket // for each row, the buckets in use in ascending order
	written  [numRows]bool      // whether a row has accesses that write
}

// The buckets of the first row span 1<<minBucketBits bytes, those of each further row twice as
// many. The last row has a single bucket for all longer accesses.
const (
	minBucketBits = 4
	numRows       = 16
)

// rowOf returns the row for accesses of size bytes.
func rowOf(size int64) int {
	return min(max(bits.Len64(uint64(size-1))-minBucketBits, 0), numRows-1)
}

// bucketRange returns the numbers of the first and the last bucket of a row that overlap a
// region.
func bucketRange(r *memory.Region, row int) (low, high int64) {
	if row == numRows-1 {
		return 0, 0
	}
	return r.Low >> (minBucketBits + row), (r.High - 1) >> (minBucketBits + row)
}

// accessIndex returns the index for the memory of an access. A kernel has few base addresses, so
// the list is searched linearly.
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

// eachNear calls visit for all buckets that may contain an access that overlaps a region, until
// visit returns true. It returns whether visit returned true. If writes is set, rows without
// writes are skipped.
func (r *accessIndex) eachNear(x *memory.Region, writes bool, visit func(*bucket) bool) bool {
	for i, list := range r.rows {
		if len(list) == 0 || writes && !r.written[i] {
			continue
		}
		low, high := bucketRange(x, i)
		for _, s := range list[lowerBound(list, low):] {
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

// lowerBound returns the index of the first bucket whose number is at least low.
func lowerBound(list []*bucket, low int64) int {
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

// bucketAt returns the bucket with the given number in a row, and creates it if necessary.
func (r *accessIndex) bucketAt(row int, number int64) *bucket {
	list := r.rows[row]
	i := lowerBound(list, number)
	if i == len(list) || list[i].number != number {
		list = slices.Insert(list, i, r.freeList.bucket(number))
		r.rows[row] = list
	}
	return list[i]
}

// A bucket holds the accesses to a range of bytes, by agent. It is pruned of accesses that are
// ordered before all running agents, so that it becomes empty after a block barrier.
type bucket struct {
	number     int64
	agentLists []*agentList
	// Writes, including those removed from agentLists: an async operation must not read the
	// written data without a fence.
	oldWrites []*access
	stored    bool // some of oldWrites are by threads
	size      int  // total length of all lists
	pruneSize int  // size at which the lists are pruned
	barriers  int  // value of machine.barriers at the last pruning
}

// An agentList holds the accesses of one agent in program order: the accesses by its threads
// (own) and by its asynchronous operations (async).
type agentList struct {
	by         *agent
	own, async accesses
}

// accesses holds a list of accesses, and the sublist of those that write, because a read is
// compared only with writes.
type accesses struct{ all, writes []*access }

func (l *accesses) add(x *access) {
	l.all = append(l.all, x)
	if x.write {
		l.writes = append(l.writes, x)
	}
}

// conflicting returns the accesses with which x must be compared: all if x writes, or else the
// writes.
func (l *accesses) conflicting(x *access) []*access {
	if x.write {
		return l.all
	}
	return l.writes
}

// agentList returns the list of an agent, and creates it if necessary.
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

// addAccess adds an access to a bucket, and prunes the bucket if it has grown or threads have
// synchronized.
func (m *machine) addAccess(s *bucket, x *access) {
	p := s.agentList(x.by, m.freeList)
	if x.operation > 0 {
		p.async.add(x)
	} else {
		p.own.add(x)
	}
	s.size++
	if x.write && len(m.asyncRegions) > 0 {
		s.oldWrites = append(s.oldWrites, x)
		s.stored = s.stored || x.needsFence()
	}
	if n := s.size; n > s.pruneSize || n > minPruneSize && s.barriers != m.barriers {
		*m.work += n
		s.size = 0
		for _, p := range s.agentLists {
			for _, l := range []*accesses{&p.own, &p.async} {
				l.all = m.dropRepeated(l.all, true)
				l.writes = m.dropRepeated(l.writes, true)
				s.size += len(l.all)
			}
		}
		s.oldWrites = m.dropRepeated(s.oldWrites, false)
		s.pruneSize, s.barriers = max(minPruneSize, 2*s.size), m.barriers
	}
}

// minPruneSize is the number of accesses that a bucket may hold before it is pruned.
const minPruneSize = 16

// dropRepeated removes accesses that the same instruction of the same agent has repeated later.
// If known is set, it also removes accesses that are ordered before all running agents.
func (m *machine) dropRepeated(list []*access, known bool) []*access {
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
		if later != nil && later.write == x.write && (x.operation == 0 || m.isOrdered(x, later)) ||
			known && m.isKnownToAll(x) {
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

// isKnownToAll reports whether x is ordered before every later access, because the clocks of all
// running agents contain it.
func (m *machine) isKnownToAll(x *access) bool {
	if x.operation > 0 {
		return !slices.ContainsFunc(m.agents,
			func(a *agent) bool { return !a.exited && !a.clock.hasCompleted(x.operation) })
	}
	if m.floorJoins != m.joins {
		m.floorJoins = m.joins
		m.updateFloor()
	}
	return m.floor[x.by.id] >= x.when
}

// updateFloor computes, for each agent, the progress that the clocks of all other running agents
// contain.
func (m *machine) updateFloor() {
	*m.work += len(m.agents) * len(m.agents) / 8
	m.floor = slices.Repeat([]int{math.MaxInt}, len(m.agents))
	for _, a := range m.agents {
		if a.exited {
			continue
		}
		for i, n := range a.clock.agents {
			if i != a.id {
				m.floor[i] = min(m.floor[i], n)
			}
		}
	}
}
