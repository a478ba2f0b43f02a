// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"sync"
	"sync/atomic"
)

// opcodeCache caches the opcodes that matchers of one set, version and target have resolved, so
// that a program that checks many modules resolves each once. It is safe for concurrent use.
type opcodeCache struct {
	mu    sync.RWMutex
	known map[string]known
	kept  *atomic.Int32 // number of cached opcodes of the whole set
}

type known struct {
	op string // the key
	*Opcode
}

// mostKept limits the cache. Modules have a few hundred opcodes, but tests try arbitrarily many.
const mostKept = 1 << 14

// find returns the cached result for op and the cached text of op, or nil.
func (m *opcodeCache) find(op string) (string, *Opcode) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	k := m.known[op]
	return k.op, k.Opcode
}

// keep caches the result for op.
func (m *opcodeCache) keep(op string, s *Opcode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, twice := m.known[op]; !twice && m.kept.Add(1) <= mostKept {
		m.known[op] = known{op, s}
	}
}

// A place is a version and a target.
type place struct {
	version Version
	target  Target
}

// cacheFor returns the cache of a version and target.
func (s *Set) cacheFor(v Version, t Target) *opcodeCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := place{v, t}
	m := s.met[at]
	if m == nil {
		m = &opcodeCache{known: make(map[string]known), kept: &s.kept}
		if s.met == nil {
			s.met = make(map[place]*opcodeCache)
		}
		s.met[at] = m
	}
	return m
}
