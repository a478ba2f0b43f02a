// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// A stock keeps what a scene needs of memory for the scenes after it: most of it is the same again.
type stock struct {
	accesses   parts[access]
	operations parts[operation]
	shelves    parts[shelf]
	piles      parts[pile]
	// idlers is the idle events of traces, for lanes that their warp is whole with, and for others.
	idlers [2]map[*trace.Trace][]bool
}

// reset takes everything back.
func (s *stock) reset() {
	s.accesses.used, s.operations.used, s.shelves.used, s.piles.used = 0, 0, 0, 0
}

// access returns an access that the caller fills in.
func (s *stock) access() *access { return s.accesses.next() }

// operation returns a copy of o.
func (s *stock) operation(o operation) *operation {
	x := s.operations.next()
	*x = o
	return x
}

// shelf returns an empty shelf.
func (s *stock) shelf(number int64) *shelf {
	x := s.shelves.next()
	*x = shelf{number: number, piles: x.piles[:0], old: x.old[:0]}
	return x
}

// pile returns the empty pile of an agent.
func (s *stock) pile(by *agent) *pile {
	x := s.piles.next()
	x.by = by
	x.own.empty()
	x.bound.empty()
	return x
}

func (l *accesses) empty() { l.all, l.writes = l.all[:0], l.writes[:0] }

// Parts are things of one type, in lists that are never moved.
type parts[T any] struct {
	lists [][]T
	used  int // of all
}

// partSize is how many things a list has.
const partSize = 64

// next returns the next thing, as it was left when it was used before.
func (p *parts[T]) next() *T {
	if p.used == len(p.lists)*partSize {
		p.lists = append(p.lists, make([]T, partSize))
	}
	x := &p.lists[p.used/partSize][p.used%partSize]
	p.used++
	return x
}
