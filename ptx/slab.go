// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// A slab hands out values of one type from a few large arrays. A module has millions of nodes;
// one allocation each would cost more than parsing them.
type slab[T any] struct {
	free []T
	next int // size of the next array
}

// grow makes room for n values.
func (s *slab[T]) grow(n int) {
	s.next = min(max(16, 2*s.next), 2048)
	s.free = make([]T, max(s.next, n))
}

// one is a zero value.
func (s *slab[T]) one() *T {
	if len(s.free) == 0 {
		s.grow(1)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// room is a list of the next n values, to be written and then taken, or some of them. What is not taken will
// be handed out again, as it was left.
func (s *slab[T]) room(n int) []T {
	if len(s.free) < n {
		s.grow(n)
	}
	return s.free[:n:n]
}

// take is a list of n values, zero unless room has lent them.
func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.grow(n)
	}
	to := s.free[:n:n]
	s.free = s.free[n:]
	return to
}

// list is a copy of from, nil if that is empty. Appending to it does not touch its neighbours.
func (s *slab[T]) list(from []T) []T {
	if len(from) == 0 {
		return nil
	}
	to := s.take(len(from))
	copy(to, from)
	return to
}
