// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package slab makes many small values in a few large allocations. What is made lives as long as any of its neighbours.
package slab

// An Of hands out values of one type from arrays that grow, so that little is too much for a small module, and there are few
// for a large one. The zero Of is ready for use.
type Of[T any] struct {
	free []T
	next int // size of the next array
}

const (
	least = 16
	most  = 2048
)

// Grow makes room for n values at once.
func (s *Of[T]) Grow(n int) {
	if len(s.free) < n {
		s.next = min(max(least, 2*s.next), most)
		s.free = make([]T, max(s.next, n))
	}
}

// One is a zero value.
func (s *Of[T]) One() *T {
	s.Grow(1)
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// Many is a list of n zero values. Appending to it does not touch its neighbours.
func (s *Of[T]) Many(n int) []T {
	s.Grow(n)
	to := s.free[:n:n]
	s.free = s.free[n:]
	return to
}

// Copy is a copy of from, nil if that is empty.
func (s *Of[T]) Copy(from []T) []T {
	if len(from) == 0 {
		return nil
	}
	to := s.Many(len(from))
	copy(to, from)
	return to
}
