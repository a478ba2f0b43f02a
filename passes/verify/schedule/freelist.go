// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import "github.com/ptxdsl/ptxdsl/passes/analysis/trace"

// A freeList keeps the memory of one scene for reuse by the following scenes.
type freeList struct {
	accesses   parts[access]
	operations parts[operation]
	buckets    parts[bucket]
	agentLists parts[agentList]
	// idlers holds the idle events of traces, separately for agents that are whole warps and for
	// others.
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

// bucket returns an empty bucket.
func (s *freeList) bucket(number int64) *bucket {
	x := s.buckets.next()
	*x = bucket{number: number, agentLists: x.agentLists[:0], old: x.old[:0]}
	return x
}

// agentList returns an empty list of an agent.
func (s *freeList) agentList(by *agent) *agentList {
	x := s.agentLists.next()
	x.by = by
	x.own.empty()
	x.bound.empty()
	return x
}

func (l *accesses) empty() { l.all, l.writes = l.all[:0], l.writes[:0] }

// parts allocates values of one type in chunks that are never moved.
type parts[T any] struct {
	lists [][]T
	used  int // number of values in use
}

// partSize is the number of values in a chunk.
const partSize = 64

// next returns the next value, with the contents of its previous use.
func (p *parts[T]) next() *T {
	if p.used == len(p.lists)*partSize {
		p.lists = append(p.lists, make([]T, partSize))
	}
	x := &p.lists[p.used/partSize][p.used%partSize]
	p.used++
	return x
}
