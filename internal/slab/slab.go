// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package slab makes many small values in a few large allocations. What is made lives as long as any of its neighbours,
// or until all of them are taken back at once.
package slab

import "iter"

// An Of hands out values of one type from arrays that grow, so that little is too much for a small module, and there are few
// for a large one. The zero Of is ready for use.
type Of[T any] struct {
	array  []T   // the one in use
	at     int   // of it, what is free begins here
	last   int   // and here, plus one, the list that Append made longer last; 0 for none
	arrays [][]T // all that were made
	used   int   // how many of them were in use since the last Reset
}

const (
	least = 16
	most  = 512
)

// Grow makes room for n values at once.
func (s *Of[T]) Grow(n int) {
	if len(s.array)-s.at < n {
		s.more(n)
	}
}

// more goes on in another array, which has room for n values.
//
//go:noinline
func (s *Of[T]) more(n int) { s.array, s.at, s.last = s.next(n), 0, 0 }

// next is the next array that has room for n values.
func (s *Of[T]) next(n int) []T {
	for s.used < len(s.arrays) {
		s.used++
		if next := s.arrays[s.used-1]; len(next) >= n {
			return next
		}
	}
	size := least
	if s.used > 0 {
		size = min(2*len(s.arrays[s.used-1]), most)
	}
	s.arrays = append(s.arrays, make([]T, max(size, n)))
	s.used++
	return s.arrays[s.used-1]
}

// Append is list with v behind it. The list that it made longer last grows where it stands.
func (s *Of[T]) Append(list []T, v T) []T {
	n := len(list)
	switch {
	case n < cap(list):
		return append(list, v)
	case n > 0 && s.last > 0 && s.last-1+n == s.at && s.at < len(s.array) && &list[0] == &s.array[s.last-1]: // nothing was handed out since
		s.at++
		list = s.array[s.last-1 : s.at : s.at]
	default:
		to := max(2*n, 1)
		s.Grow(to)
		s.last = s.at + 1
		s.at += to
		copy(s.array[s.last-1:], list)
		list = s.array[s.last-1 : s.last+n : s.at]
	}
	list[n] = v
	return list
}

// All visits the values that were handed out, and some that were not, which are zero.
func (s *Of[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, a := range s.arrays[:s.used] {
			for i := range a {
				if !yield(&a[i]) {
					return
				}
			}
		}
	}
}

// Reset takes everything back, to hand it out again.
func (s *Of[T]) Reset() {
	for _, a := range s.arrays[:s.used] {
		clear(a)
	}
	s.array, s.at, s.last, s.used = nil, 0, 0, 0
}

// One is a zero value.
func (s *Of[T]) One() *T {
	if s.at == len(s.array) {
		s.more(1)
	}
	v := &s.array[s.at]
	s.at++
	return v
}

// Room is a list of the next n values, to be written before Many hands out some of them or all. What it does not hand
// out is in the next Room as it was left.
func (s *Of[T]) Room(n int) []T {
	s.Grow(n)
	return s.array[s.at : s.at+n : s.at+n]
}

// Many is a list of n values, zero unless Room has lent them. Appending to it does not touch its neighbours.
func (s *Of[T]) Many(n int) []T {
	if len(s.array)-s.at < n {
		s.more(n)
	}
	from := s.at
	s.at += n
	return s.array[from:s.at:s.at]
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
