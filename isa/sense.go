// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"sync"
	"sync/atomic"
)

// Senses are the opcodes that matchers of one set, version and target have met: a program that builds or checks module after
// module looks each up once. They are safe for concurrent use.
type senses struct {
	mu    sync.RWMutex
	known map[string]known
	kept  *atomic.Int32 // of the set, everywhere
}

type known struct {
	op string // the key, as it is kept
	*Opcode
}

// mostKept bounds what a set keeps. Modules have some hundred opcodes, but who tries all that are possible has no end of them.
const mostKept = 1 << 14

// find returns what is known of op, and op as it is kept; nil if that is nothing.
func (m *senses) find(op string) (string, *Opcode) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	k := m.known[op]
	return k.op, k.Opcode
}

// keep remembers what op means.
func (m *senses) keep(op string, s *Opcode) {
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

// sensesFor returns what is known at a version and target.
func (s *Set) sensesFor(v Version, t Target) *senses {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := place{v, t}
	m := s.met[at]
	if m == nil {
		m = &senses{known: make(map[string]known), kept: &s.kept}
		if s.met == nil {
			s.met = make(map[place]*senses)
		}
		s.met[at] = m
	}
	return m
}
