// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"math/bits"
	goruntime "runtime"
	"time"
)

// A spins holds samples of a cluster that detect endless loops: if a warp returns to an earlier
// state while memory has not changed, it repeats the same instructions forever. Warps that count or
// accumulate do not return to an earlier state.
type spins struct {
	samples int
	changes int64 // of the cluster, at the samples
	repeats bool  // all warps repeat themselves
}

// sample compares the states of the warps with earlier states. As in Brent's algorithm, the
// states of samples 1, 2, 4, 8 and so on are kept.
func (c *cluster) sample() {
	s := &c.spins
	if n := c.changes(); n != s.changes || s.samples == 0 {
		*s = spins{changes: n}
	}
	s.samples++
	s.repeats = true
	for _, w := range c.order {
		if w.live == 0 {
			continue
		}
		x := w.signature()
		if s.samples == 1 {
			w.repeats = false
		} else if x == w.sample {
			w.repeats = true
		}
		if s.samples&(s.samples-1) == 0 {
			w.sample = x
		}
		s.repeats = s.repeats && w.repeats
	}
}

// signature returns a hash of the state of a warp: the positions and the registers of its
// fragments.
func (w *warp) signature() uint64 {
	h := uint64(w.live)
	mix := func(x uint64) { h = bits.RotateLeft64((h^x)*0x9e3779b97f4a7c15, 29) }
	for _, f := range w.fragments() {
		mix(uint64(f.mask)<<32 | uint64(uint32(f.pc)))
		mix(uint64(f.state))
		for x := f.frame; x != nil; x = x.caller {
			mix(x.local<<32 | uint64(uint32(x.back)))
			for i := range x.regs {
				for _, v := range x.regs[i] {
					mix(v)
				}
			}
			for _, p := range x.preds {
				mix(uint64(p))
			}
		}
	}
	return h
}

// A warp in an endless loop may count its iterations, and then never returns to an earlier state. A
// grid therefore also counts as hanging after this many thread instructions without a change:
// spunWarp for each warp, at most spunGrid.
const (
	spunWarp = 1 << 28
	spunGrid = 1 << 33
)

// spun reports whether threads have run too long without a change.
func (g *grid) spun() bool {
	most := int64(0)
	for _, c := range g.waiting {
		most += int64(len(c.order)) * spunWarp
	}
	return g.executed.Load()-g.changedAt > min(most, spunGrid)
}

// decide is called if no cluster can make progress. It ends the grid with a fault if the grid
// hangs, or lets it run longer if some warp may still make progress.
func (g *grid) decide() {
	g.stalled = 0
	switch {
	case g.device.open():
		g.timer.follow()
		if g.spun() && time.Since(g.changedTime) > time.Minute {
			g.fault = g.hang()
		}
		goruntime.Gosched()
	case g.timer.skip():
	case g.timer.step >= lastSkip, g.repeats(), g.spun():
		g.fault = g.hang()
	}
}

// repeats reports whether all warps of the grid repeat themselves.
func (g *grid) repeats() bool {
	for _, c := range g.waiting {
		if !c.spins.repeats {
			return false
		}
	}
	return true
}

// progressed records that a cluster changed something.
func (g *grid) progressed() {
	g.stalled, g.timer.step, g.changedAt, g.changedTime = 0, 0, g.executed.Load(), time.Now()
}

// open reports whether memory that kernels of the device read can change from outside: the host
// has pinned memory, or kernels of other devices can write it. A kernel may then wait for such a
// change.
func (d *Device) open() bool {
	d.mutex.Lock()
	pinned := len(d.pinned) > 0
	d.mutex.Unlock()
	return pinned || d.shares()
}

// mayHang reports whether all clusters that have started were without progress several times.
func (g *grid) mayHang() bool { return g.stalled > 2*(len(g.waiting)+g.running)+2 }
