// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"maps"
	"slices"
)

// States fork at every branch and stay mostly equal afterwards. They are copied on write, so that
// forking is cheap.

// A table is a slice of fixed length that can be forked without copying all of it.
type table[T any] struct {
	pages []*page[T]
	own   []bool // pages that are not shared
}

const pageSize = 32

type page[T any] [pageSize]T

func newTable[T any](n int) table[T] {
	n = (n + pageSize - 1) / pageSize
	return table[T]{make([]*page[T], n), make([]bool, n)}
}

func (t *table[T]) at(i int) (x T) {
	if p := t.pages[i/pageSize]; p != nil {
		x = p[i%pageSize]
	}
	return x
}

func (t *table[T]) set(i int, x T) {
	n := i / pageSize
	if !t.own[n] {
		own := new(page[T])
		if p := t.pages[n]; p != nil {
			*own = *p
		}
		t.pages[n], t.own[n] = own, true
	}
	t.pages[n][i%pageSize] = x
}

func (t *table[T]) fork() table[T] {
	clear(t.own)
	return table[T]{slices.Clone(t.pages), make([]bool, len(t.own))}
}

// A book is a map that can be forked without copying all of it.
type book[K comparable, V any] struct {
	entries map[K]V
	own     bool
}

func (b *book[K, V]) at(k K) V { return b.entries[k] }

func (b *book[K, V]) set(k K, x V) {
	if !b.own {
		b.entries, b.own = maps.Clone(b.entries), true
		if b.entries == nil {
			b.entries = make(map[K]V)
		}
	}
	b.entries[k] = x
}

func (b *book[K, V]) fork() book[K, V] {
	b.own = false
	return *b
}
