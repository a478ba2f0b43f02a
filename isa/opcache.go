// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"sync"
	"sync/atomic"
)

// An opcodeCache holds the opcodes that the matchers of one set, version and target have
// resolved, so that a program that checks many modules resolves each opcode once. It may be used
// concurrently.
type opcodeCache struct {
	mu    sync.RWMutex
	known map[string]known
	kept  *atomic.Int32 // number of cached opcodes of the whole set
}

type known struct {
	op string // the key
	*Opcode
}

// maxCachedOpcodes limits the number of cached opcodes. Modules have a few hundred opcodes, but
// tests try arbitrarily many.
const maxCachedOpcodes = 1 << 14

// find returns the cached result for op and the cached text of op. The result is nil if op is not
// cached.
func (m *opcodeCache) find(op string) (string, *Opcode) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	k := m.known[op]
	return k.op, k.Opcode
}

// put caches the result for op, unless the cache is full.
func (m *opcodeCache) put(op string, s *Opcode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, twice := m.known[op]; !twice && m.kept.Add(1) <= maxCachedOpcodes {
		m.known[op] = known{op, s}
	}
}

// A versionTarget is a version and a target.
type versionTarget struct {
	version Version
	target  Target
}

// cacheFor returns the cache of a version and target.
func (s *Set) cacheFor(v Version, t Target) *opcodeCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := versionTarget{v, t}
	m := s.opcodeCaches[at]
	if m == nil {
		m = &opcodeCache{known: make(map[string]known), kept: &s.opcodeCount}
		if s.opcodeCaches == nil {
			s.opcodeCaches = make(map[versionTarget]*opcodeCache)
		}
		s.opcodeCaches[at] = m
	}
	return m
}
