// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"io"
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Focus is a thread, given by its block index in the grid and its thread index in the block.
type Focus struct{ Block, Thread uint32 }

// lane returns the lane of the thread if the event belongs to its warp.
func (f Focus) lane(e *emu.Event) (int, bool) {
	return int(f.Thread % emu.Lanes), e.Block == f.Block && e.Warp == f.Thread/emu.Lanes
}

// Watch prints each change of a register of a thread, with the line of the instruction that changed
// it. It is an observer.
type Watch struct {
	Register string // such as %r12
	Focus    Focus
	Out      io.Writer
	Limit    int // maximum number of changes to print, or 0 for no limit

	names  *names
	last   uint64
	known  bool
	before string // the line that ran before
	shown  int
}

// Observe handles the start of a launch.
func (w *Watch) Observe(e *emu.Event) {
	if e.Kind == emu.EventBegin {
		w.names, w.known, w.before = namesOf(e.Launch), false, ""
	}
}

// Step compares the register with its last value.
func (w *Watch) Step(e *emu.Event, s *emu.State) {
	lane, ok := w.Focus.lane(e)
	if !ok {
		return
	}
	x, r, ok := s.Register(w.Register, lane)
	if ok && w.known && x != w.last && (w.Limit == 0 || w.shown < w.Limit) {
		w.shown++
		fmt.Fprintf(w.Out, "%s: %s = %s\n", w.before, w.Register, value(x, r))
	}
	if ok {
		w.last, w.known = x, true
	}
	if e.Mask>>lane&1 != 0 {
		w.before = w.names.line(e)
	}
}

// Shown returns how many changes were printed.
func (w *Watch) Shown() int { return w.shown }

// value formats the bits of a register.
func value(x uint64, r *ir.Reg) string {
	n := r.Type.Bits()
	switch {
	case r.Type == isa.Predicate:
		return fmt.Sprint(x != 0)
	case n == 64:
		return fmt.Sprintf("0x%016x (%d, %g)", x, int64(x), math.Float64frombits(x))
	case n == 32:
		return fmt.Sprintf("0x%08x (%d, %g)", uint32(x), int32(x), math.Float32frombits(uint32(x)))
	case n == 16:
		return fmt.Sprintf("0x%04x (%d)", uint16(x), int16(x))
	}
	return fmt.Sprintf("0x%x", x)
}
