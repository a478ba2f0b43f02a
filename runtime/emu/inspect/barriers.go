// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// barrier counts an event at a barrier. The wait of a warp lasts from its arrival, or from its
// first test of an mbarrier, until the warp continues.
func (s *Stats) barrier(e *emu.Event) {
	switch e.Kind {
	case emu.EventArrive:
		name := barrierName(e)
		s.named(name).Arrivals += int64(bits.OnesCount32(e.Mask))
		s.waiting[thread{e.Block, e.Warp}] = wait{name, s.steps}
	case emu.EventMeet:
		s.named(barrierName(e)).Phases++
	case emu.EventLeave, emu.EventClusterLeave:
		s.waited(e)
	case emu.EventClusterArrive:
		s.named("cluster barrier").Arrivals += int64(bits.OnesCount32(e.Mask))
		s.waiting[thread{e.Block, e.Warp}] = wait{"cluster barrier", s.steps}
	case emu.EventClusterMeet:
		s.named("cluster barrier").Phases++
	case emu.EventSignal:
		s.named(s.mbarrier(e)).Arrivals++
	case emu.EventPhase:
		s.named(s.mbarrier(e)).Phases++
	case emu.EventTest:
		t := thread{e.Block, e.Warp}
		if w, ok := s.waiting[t]; ok && w.name == "" {
			s.waiting[t] = wait{s.mbarrier(e), w.since}
		}
		s.waited(e)
	}
}

// waitsForPhase reports whether an instruction waits for a phase of an mbarrier.
func waitsForPhase(in *ir.Instr) bool {
	switch in.Form.Form.Kind {
	case isa.KindMbarrierTestWait, isa.KindMbarrierTestWaitParity, isa.KindMbarrierTryWait,
		isa.KindMbarrierTryWaitParity:
		return true
	}
	return false
}

// barrierName returns the name of one of the sixteen named barriers of a block.
func barrierName(e *emu.Event) string { return fmt.Sprintf("barrier %d", e.Number) }

// mbarrier returns the displayed name of an event's mbarrier.
func (s *Stats) mbarrier(e *emu.Event) string {
	if e.Mask == 0 || e.At == nil {
		return "mbarrier"
	}
	return "mbarrier " + s.names.address(e.At[bits.TrailingZeros32(e.Mask)], 8)
}

// named returns the counts of the barrier with the given name.
func (s *Stats) named(name string) *Barrier {
	b := s.Barriers[name]
	if b == nil {
		b = new(Barrier)
		s.Barriers[name] = b
	}
	return b
}

// waited ends the wait of a warp.
func (s *Stats) waited(e *emu.Event) {
	t := thread{e.Block, e.Warp}
	if w, ok := s.waiting[t]; ok {
		b := s.named(w.name)
		b.Waits++
		b.Waited += s.steps - w.since
		delete(s.waiting, t)
	}
}
