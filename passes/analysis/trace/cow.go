// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"maps"
	"slices"
)

// States are forked at every branch and remain mostly equal afterwards. They are copied on write,
// so that a fork is cheap.

// A cowTable is a slice of fixed length that can be forked without copying all elements.
type cowTable[T any] struct {
	pages []*page[T]
	own   []bool // whether each page is not shared
}

const pageSize = 32

type page[T any] [pageSize]T

func newTable[T any](n int) cowTable[T] {
	n = (n + pageSize - 1) / pageSize
	return cowTable[T]{make([]*page[T], n), make([]bool, n)}
}

func (t *cowTable[T]) at(i int) (x T) {
	if p := t.pages[i/pageSize]; p != nil {
		x = p[i%pageSize]
	}
	return x
}

func (t *cowTable[T]) set(i int, x T) {
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

func (t *cowTable[T]) fork() cowTable[T] {
	clear(t.own)
	return cowTable[T]{slices.Clone(t.pages), make([]bool, len(t.own))}
}

// A cowMap is a map that can be forked without copying all entries. own is set if entries is not
// shared.
type cowMap[K comparable, V any] struct {
	entries map[K]V
	own     bool
}

func (b *cowMap[K, V]) at(k K) V { return b.entries[k] }

func (b *cowMap[K, V]) set(k K, x V) {
	if !b.own {
		b.entries, b.own = maps.Clone(b.entries), true
		if b.entries == nil {
			b.entries = make(map[K]V)
		}
	}
	b.entries[k] = x
}

func (b *cowMap[K, V]) fork() cowMap[K, V] {
	b.own = false
	return *b
}
