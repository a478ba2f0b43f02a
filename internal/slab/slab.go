// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package slab makes many small values in a few large allocations. What is made lives as long as any of its neighbours,
// or until all of them are taken back at once.
package slab

import "iter"

// An Of hands out values of one type from arrays that grow, so that little is too much for a small module, and there are few
// for a large one. The zero Of is ready for use. It has functions instead of methods: the compiler makes all methods of a
// generic type anew in each package that can see a value with such a field, and all who build kernels see those.
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
func Grow[T any](s *Of[T], n int) {
	if len(s.array)-s.at < n {
		more(s, n)
	}
}

// more goes on in another array, which has room for n values.
//
//go:noinline
func more[T any](s *Of[T], n int) { s.array, s.at, s.last = next(s, n), 0, 0 }

// next returns the next array that has room for n values.
func next[T any](s *Of[T], n int) []T {
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

// Append returns list with v behind it. The list that it made longer last grows where it stands.
func Append[T any](s *Of[T], list []T, v T) []T {
	n := len(list)
	switch {
	case n < cap(list):
		return append(list, v)
	case n > 0 && s.last > 0 && s.last-1+n == s.at && s.at < len(s.array) && &list[0] == &s.array[s.last-1]: // nothing was handed out since
		s.at++
		list = s.array[s.last-1 : s.at : s.at]
	default:
		to := max(2*n, 1)
		Grow(s, to)
		s.last = s.at + 1
		s.at += to
		copy(s.array[s.last-1:], list)
		list = s.array[s.last-1 : s.last+n : s.at]
	}
	list[n] = v
	return list
}

// All visits the values that were handed out, and some that were not, which are zero.
func All[T any](s *Of[T]) iter.Seq[*T] {
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
func Reset[T any](s *Of[T]) {
	for _, a := range s.arrays[:s.used] {
		clear(a)
	}
	s.array, s.at, s.last, s.used = nil, 0, 0, 0
}

// One returns a zero value.
func One[T any](s *Of[T]) *T {
	if s.at == len(s.array) {
		more(s, 1)
	}
	v := &s.array[s.at]
	s.at++
	return v
}

// Room returns a list of the next n values, to be written before Many hands out some of them or
// all. What it does not hand out is in the next Room as it was left.
func Room[T any](s *Of[T], n int) []T {
	Grow(s, n)
	return s.array[s.at : s.at+n : s.at+n]
}

// Many returns a list of n values, zero unless Room has lent them. Appending to it does not touch
// its neighbours.
func Many[T any](s *Of[T], n int) []T {
	if len(s.array)-s.at < n {
		more(s, n)
	}
	from := s.at
	s.at += n
	return s.array[from:s.at:s.at]
}

// Copy returns a copy of from, nil if that is empty.
func Copy[T any](s *Of[T], from []T) []T {
	if len(from) == 0 {
		return nil
	}
	to := Many(s, len(from))
	copy(to, from)
	return to
}
