// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Guide makes the emulator execute a launch in the order of a witness.
type Guide struct {
	Witness Witness

	at     int
	counts map[laneKey]int // number of synchronizations
	issued map[laneKey]int
	nth    map[asyncKey]int // number of earlier operations of their lanes
}

// Observe handles an event.
func (g *Guide) Observe(e *emu.Event) {
	switch e.Kind {
	case emu.EventBegin:
		g.at, g.counts, g.issued, g.nth = 0, map[laneKey]int{}, map[laneKey]int{},
			map[asyncKey]int{}
	case emu.EventIssue:
		g.lanes(e, func(k laneKey) {
			g.nth[asyncKey{e.Operation, k.lane}] = g.issued[k]
			g.issued[k]++
		})
	case emu.EventComplete:
		g.lanes(e, func(k laneKey) {
			if s := g.segment(); s != nil && s.Async && s.key() == k &&
				g.nth[asyncKey{e.Operation, k.lane}] == s.Count {
				g.at++
			}
		})
	case emu.EventInit, emu.EventInval, emu.EventTest, emu.EventArrive, emu.EventClusterArrive,
		emu.EventSignal:
		if e.Operation == 0 {
			g.lanes(e, func(k laneKey) { g.counts[k]++ })
		}
	}
	g.advance()
}

// lanes calls f for each thread in the mask of an event.
func (g *Guide) lanes(e *emu.Event, f func(k laneKey)) {
	for m := e.Mask; m != 0; m &= m - 1 {
		f(laneKey{e.Block, e.Warp, uint32(bits.TrailingZeros32(m))})
	}
}

// key returns the thread of a segment.
func (s *Segment) key() laneKey { return laneKey{s.Block, s.Warp, s.Lane} }

// segment returns the current segment, or nil.
func (g *Guide) segment() *Segment {
	if g.at < len(g.Witness) {
		return &g.Witness[g.at]
	}
	return nil
}

// advance moves to the next segment that has not been reached.
func (g *Guide) advance() {
	for s := g.segment(); s != nil && !s.Async && g.counts[s.key()] >= s.Count; s = g.segment() {
		g.at++
	}
}

// May reports whether lanes of a warp may synchronize.
func (g *Guide) May(block, warp, mask uint32) bool {
	s := g.segment()
	return s == nil || !s.Async && s.Block == block && s.Warp == warp && mask>>s.Lane&1 != 0
}

// Completes returns the lanes in which an operation may complete.
func (g *Guide) Completes(block, warp uint32, operation uint64, lanes uint32) uint32 {
	s := g.segment()
	if s == nil || !s.Async || s.Block != block || s.Warp != warp || lanes>>s.Lane&1 == 0 {
		return 0
	}
	if n, ok := g.nth[asyncKey{operation, s.Lane}]; !ok || n != s.Count {
		return 0
	}
	return 1 << s.Lane
}

// Done reports whether all segments of the witness have run.
func (g *Guide) Done() bool { return g.at >= len(g.Witness) }
