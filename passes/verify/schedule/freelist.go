// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import "github.com/ptxdsl/ptxdsl/passes/analysis/trace"

// A freeList keeps the memory of one simulation for reuse by the following ones.
type freeList struct {
	accesses   chunkedPool[access]
	operations chunkedPool[operation]
	buckets    chunkedPool[bucket]
	agentLists chunkedPool[agentList]
	// idleLists caches the idle events of traces, separately for agents that are whole warps and
	// for agents that are parts of warps.
	idlers [2]map[*trace.Trace][]bool
}

// reset makes all values available for reuse.
func (s *freeList) reset() {
	s.accesses.used, s.operations.used, s.buckets.used, s.agentLists.used = 0, 0, 0, 0
}

// access returns a copy of x.
func (s *freeList) access(x *access) *access {
	kept := s.accesses.next()
	*kept = *x
	return kept
}

// operation returns a copy of o.
func (s *freeList) operation(o operation) *operation {
	x := s.operations.next()
	*x = o
	return x
}

// bucket returns an empty bucket with the given number.
func (s *freeList) bucket(number int64) *bucket {
	x := s.buckets.next()
	*x = bucket{number: number, agentLists: x.agentLists[:0], oldWrites: x.oldWrites[:0]}
	return x
}

// agentList returns an empty list for an agent.
func (s *freeList) agentList(by *agent) *agentList {
	x := s.agentLists.next()
	x.by = by
	x.own.clear()
	x.async.clear()
	return x
}

func (l *accesses) clear() { l.all, l.writes = l.all[:0], l.writes[:0] }

// A chunkedPool allocates values of one type in chunks that are never moved.
type chunkedPool[T any] struct {
	lists [][]T
	used  int // number of values in use
}

// chunkSize is the number of values in a chunk.
const chunkSize = 64

// next returns the next value. The value still has the contents of its previous use.
func (p *chunkedPool[T]) next() *T {
	if p.used == len(p.lists)*chunkSize {
		p.lists = append(p.lists, make([]T, chunkSize))
	}
	x := &p.lists[p.used/chunkSize][p.used%chunkSize]
	p.used++
	return x
}
