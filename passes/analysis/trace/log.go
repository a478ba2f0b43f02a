// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"iter"
	"slices"
)

// A log is a list whose prefix many states share. The cost of a fork does not depend on the
// length of the log. The list consists of parts, so that an append never copies entries.
type log[T any] struct {
	before *log[T] // immutable
	from   int     // number of entries in before
	own    []T
	shared bool // other logs have this log as prefix
}

// A spare holds the memory of parts that no log uses, for reuse.
type spare[T any] [][]T

// take returns an empty part with capacity for at least n entries.
func (s *spare[T]) take(n int) []T {
	for i, part := range slices.Backward(*s) {
		if cap(part) >= n {
			*s = slices.Delete(*s, i, i+1)
			return part[:0]
		}
	}
	return make([]T, 0, n)
}

// Minimum and maximum number of entries in a part.
const (
	minPartSize = 8
	maxPartSize = 1024
)

// fork returns a log with the same entries. Entries may be added to both logs independently.
func (l *log[T]) fork() log[T] {
	if len(l.own) > 0 {
		l.startPart()
	}
	if l.before != nil {
		l.before.shared = true
	}
	return *l
}

// free moves the parts that only this log uses to s. The log must not be used again.
func (l *log[T]) free(s *spare[T]) {
	for ; l != nil && !l.shared; l = l.before {
		if cap(l.own) > 0 {
			*s = append(*s, l.own)
		}
	}
}

// startPart starts a new part.
func (l *log[T]) startPart() {
	common := *l
	*l = log[T]{before: &common, from: l.len()}
}

func (l *log[T]) add(x T, s *spare[T]) {
	if n := len(l.own); n == cap(l.own) {
		if n > 0 {
			l.startPart()
		}
		l.own = s.take(min(max(minPartSize, 2*n), maxPartSize))
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

// last returns the last entry, or nil if the log is empty.
func (l *log[T]) last() *T {
	for x := range l.backward() {
		return x
	}
	return nil
}

// list returns a new slice with all entries in order.
func (l *log[T]) list() []T {
	all := make([]T, l.len())
	for ; l != nil; l = l.before {
		copy(all[l.from:], l.own)
	}
	return all
}
