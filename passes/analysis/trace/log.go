// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"iter"
	"slices"
)

// A log is a list whose prefix many states share. The cost of a fork does not depend on the length.
// The list consists of parts, so that append never copies entries.
type log[T any] struct {
	before *log[T] // immutable
	from   int     // number of entries in it
	own    []T
	shared bool // other logs continue this one
}

// A spare holds the memory of parts that no log uses, for reuse.
type spare[T any] [][]T

// take returns an empty part with room for at least n entries.
func (s *spare[T]) take(n int) []T {
	for i, part := range slices.Backward(*s) {
		if cap(part) >= n {
			*s = slices.Delete(*s, i, i+1)
			return part[:0]
		}
	}
	return make([]T, 0, n)
}

// Minimum and maximum number of entries of a part.
const (
	partLeast = 8
	partMost  = 1024
)

// fork returns a log with the same entries.
func (l *log[T]) fork() log[T] {
	if len(l.own) > 0 {
		l.part()
	}
	if l.before != nil {
		l.before.shared = true
	}
	return *l
}

// free moves the parts that only this log uses to the spare parts. The log must not be used again.
func (l *log[T]) free(s *spare[T]) {
	for ; l != nil && !l.shared; l = l.before {
		if cap(l.own) > 0 {
			*s = append(*s, l.own)
		}
	}
}

// part starts a new part.
func (l *log[T]) part() {
	common := *l
	*l = log[T]{before: &common, from: l.len()}
}

func (l *log[T]) add(x T, s *spare[T]) {
	if n := len(l.own); n == cap(l.own) {
		if n > 0 {
			l.part()
		}
		l.own = s.take(min(max(partLeast, 2*n), partMost))
	}
	l.own = append(l.own, x)
}

func (l *log[T]) len() int { return l.from + len(l.own) }

// backward returns the entries in reverse order.
func (l *log[T]) backward() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for ; l != nil; l = l.before {
			for i := range slices.Backward(l.own) {
				if !yield(&l.own[i]) {
					return
				}
			}
		}
	}
}

// last returns the last entry, or nil.
func (l *log[T]) last() *T {
	for x := range l.backward() {
		return x
	}
	return nil
}

// list returns the entries in order.
func (l *log[T]) list() []T {
	all := make([]T, l.len())
	for ; l != nil; l = l.before {
		copy(all[l.from:], l.own)
	}
	return all
}
