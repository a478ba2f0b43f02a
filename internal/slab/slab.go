// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package slab allocates many small values in a few large arrays. A value stays in memory as long
// as any value of the same array is referenced, or until Reset frees all values for reuse.
package slab

import "iter"

// An Of allocates values of one type from arrays of increasing size, so that small modules waste
// little memory and large modules need few arrays. The zero Of is ready for use. It has functions
// instead of methods: the compiler compiles all methods of a generic type in every package that
// can see a value with such a field, which includes every package that builds kernels.
type Of[T any] struct {
	array  []T   // the array in use
	at     int   // index of the first free element of array
	last   int   // index of the last list that Append extended, plus one, or 0
	arrays [][]T // all arrays
	used   int   // number of arrays in use since the last Reset
}

const (
	minArray = 16
	maxArray = 512
)

// Grow reserves contiguous space for the next n values.
func Grow[T any](s *Of[T], n int) {
	if len(s.array)-s.at < n {
		nextArray(s, n)
	}
}

// nextArray continues in another array that has space for n values.
//
//go:noinline
func nextArray[T any](s *Of[T], n int) { s.array, s.at, s.last = next(s, n), 0, 0 }

// next returns an unused array with space for n values.
func next[T any](s *Of[T], n int) []T {
	for s.used < len(s.arrays) {
		s.used++
		if next := s.arrays[s.used-1]; len(next) >= n {
			return next
		}
	}
	size := minArray
	if s.used > 0 {
		size = min(2*len(s.arrays[s.used-1]), maxArray)
	}
	s.arrays = append(s.arrays, make([]T, max(size, n)))
	s.used++
	return s.arrays[s.used-1]
}

// Append returns list with v appended. If list is the one that Append extended last, it grows in
// place.
func Append[T any](s *Of[T], list []T, v T) []T {
	n := len(list)
	switch {
	case n < cap(list):
		return append(list, v)
	// no value was allocated after list
	case n > 0 && s.last > 0 && s.last-1+n == s.at && s.at < len(s.array) &&
		&list[0] == &s.array[s.last-1]:
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

// All returns the allocated values. It may also return values that are not allocated, which are
// zero.
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

// Reset frees all values for reuse and sets them to zero.
func Reset[T any](s *Of[T]) {
	for _, a := range s.arrays[:s.used] {
		clear(a)
	}
	s.array, s.at, s.last, s.used = nil, 0, 0, 0
}

// One returns a new value, which is zero.
func One[T any](s *Of[T]) *T {
	if s.at == len(s.array) {
		nextArray(s, 1)
	}
	v := &s.array[s.at]
	s.at++
	return v
}

// Room returns the space of the next n values. The caller may write them before it calls Many to
// allocate some or all of them. Values that are not allocated keep their contents until the next
// Room.
func Room[T any](s *Of[T], n int) []T {
	Grow(s, n)
	return s.array[s.at : s.at+n : s.at+n]
}

// Many returns n new values, which are zero unless they were written through Room. Appending to
// the result does not overwrite other values.
func Many[T any](s *Of[T], n int) []T {
	if len(s.array)-s.at < n {
		nextArray(s, n)
	}
	from := s.at
	s.at += n
	return s.array[from:s.at:s.at]
}

// Copy returns a copy of from in new values, or nil if from is empty.
func Copy[T any](s *Of[T], from []T) []T {
	if len(from) == 0 {
		return nil
	}
	to := Many(s, len(from))
	copy(to, from)
	return to
}
