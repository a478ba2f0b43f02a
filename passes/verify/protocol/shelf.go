// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"cmp"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A room is the memory of a block that counts from one root.
type room struct {
	block int
	root  *value.Value
}

// A rack keeps the accesses of a room: those of few bytes by where they are, others on one shelf for all.
type rack struct {
	shelves []*shelf // by where they begin, those that something was put on
	wide    shelf
}

// Bytes of a shelf and columns of tensor memory of one, as powers of two, and the most shelves that one access is put on.
const (
	shelfBits  = 10
	columnBits = 3
	shelfMost  = 16
)

// span is the shelves that an access belongs on, by their numbers, and whether these are few.
func span(x *access) (low, high int64, few bool) {
	bits := shelfBits
	if x.tensor {
		bits = columnBits // of which there are no more than 512
	}
	low, high = x.region.Low>>bits, (x.region.High-1)>>bits
	return low, high, high-low < shelfMost
}

// from is where the shelves begin whose number is at least so high.
func (r *rack) from(low int64) int {
	at, _ := slices.BinarySearchFunc(r.shelves, low, func(s *shelf, n int64) int { return cmp.Compare(s.number, n) })
	return at
}

// between is the shelves with numbers from low to high.
func (r *rack) between(low, high int64) []*shelf {
	return r.shelves[r.from(low):r.from(high+1)]
}

// at is the shelf of a number.
func (r *rack) at(number int64) *shelf {
	i := r.from(number)
	if i == len(r.shelves) || r.shelves[i].number != number {
		r.shelves = slices.Insert(r.shelves, i, &shelf{number: number})
	}
	return r.shelves[i]
}

// A shelf is the accesses of some bytes, in the order in which they came. What every agent that goes on knows of is put away: after a
// barrier of the block a shelf is empty, however much was done before.
type shelf struct {
	number int64
	all    []*access
	writes []*access // of all: what reads are held against
	old    []*access // writes, put away or not: engines must not read those of threads without a fence
	most   int       // that all may hold before it is looked through
	round  int       // when it was
}

// keep puts an access on a shelf.
func (m *machine) keep(s *shelf, x *access) {
	s.all = append(s.all, x)
	if x.write {
		s.writes = append(s.writes, x)
		if len(m.engines) > 0 {
			s.old = append(s.old, x)
		}
	}
	if n := len(s.all); n > s.most || n > few && s.round != m.round {
		*m.work += n
		s.all = m.tidy(s.all, true)
		s.writes = m.tidy(s.writes, true)
		s.old = m.tidy(s.old, false)
		s.most, s.round = max(few, 2*len(s.all)), m.round
	}
}

// few is how many accesses a shelf holds without being looked through.
const few = 16

// tidy is a list without what the same instruction of the same agent has done again since, and, if asked for, without what
// all know of.
func (m *machine) tidy(list []*access, known bool) []*access {
	type deed struct {
		by        *agent
		in        *ir.Instr
		low, high int64
	}
	again := make(map[deed]*access, len(list))
	at := len(list)
	for _, x := range slices.Backward(list) {
		k := deed{x.by, x.e.In, x.region.Low, x.region.High}
		if later := again[k]; later != nil && later.write == x.write && (x.operation == 0 || m.ordered(x, later)) || known && m.common(x) {
			continue
		}
		again[k] = x
		at--
		list[at] = x
	}
	n := copy(list, list[at:])
	clear(list[n:])
	return list[:n]
}

// common reports whether whatever begins from now on comes after an access for certain: every agent that goes on knows of it.
func (m *machine) common(x *access) bool {
	if x.operation > 0 {
		return !slices.ContainsFunc(m.agents, func(a *agent) bool { return !a.left && !a.clock.knows(x.operation) })
	}
	if m.floored != m.joins {
		m.floored = m.joins
		m.settle()
	}
	return m.floor[x.by.id] >= x.when
}

// settle works out up to where each agent is known of by all others that go on.
func (m *machine) settle() {
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
