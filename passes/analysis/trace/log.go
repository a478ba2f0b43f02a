// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"iter"
	"slices"
)

// A log is a list of which many states have the beginning in common: to fork one costs nothing, however long it is. It is made
// of parts, so that nothing is moved where it grows.
type log[T any] struct {
	before *log[T] // never changed any more
	from   int     // how many entries are there
	own    []T
}

// Entries of a part, at least and at most.
const (
	partLeast = 8
	partMost  = 1024
)

// fork returns a log with the same entries.
func (l *log[T]) fork() log[T] {
	if len(l.own) > 0 {
		l.part()
	}
	return *l
}

// part begins a new part.
func (l *log[T]) part() {
	common := *l
	*l = log[T]{before: &common, from: l.len()}
}

func (l *log[T]) add(x T) {
	if n := len(l.own); n == cap(l.own) {
		if n > 0 {
			l.part()
		}
		l.own = make([]T, 0, min(max(partLeast, 2*n), partMost))
	}
	l.own = append(l.own, x)
}

func (l *log[T]) len() int { return l.from + len(l.own) }

// backward returns the entries, the last one first.
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

// list returns the entries in their order.
func (l *log[T]) list() []T {
	all := make([]T, l.len())
	for ; l != nil; l = l.before {
		copy(all[l.from:], l.own)
	}
	return all
}
