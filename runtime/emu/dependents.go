// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A launch with the attribute of programmatic stream serialization may begin when all blocks of the
// launch before it have run griddepcontrol.launch_dependents or have ended. So a launch whose
// kernel has the instruction is paused at that point, and goes on when the device is asked for
// something else. A programmatic launch that follows on the stream runs beside it: first, as late
// as its griddepcontrol.wait allows, or in turns that the seed chooses. With a context that can
// end, with an observer, and where operations complete at once, launches do not overlap.

// An overlap is how a grid runs beside the one before or after it on its stream.
type overlap struct {
	primary  *grid       // the launch before, which griddepcontrol.wait waits for; nil for none
	complete atomic.Bool // all blocks have ended
	holds    atomic.Bool // clusters that launch dependents wait until all do
	held     []*cluster  // that wait so
	idling   int         // turns of other clusters since one was held
	paused   bool        // until the device is asked to go on
	quota    int         // turns until the grid is paused; negative for no limit
	turn     int         // instructions of a turn
	counted  int64       // instructions that the statistics of the device have
	seen     bool        // it has run alone
}

// mostHeld is how many clusters wait for others to launch dependents, at most. A device has not
// room for all clusters of a large grid.
const mostHeld = 256

// mayOverlap reports whether a grid can be paused for a launch that depends on it.
func (g *grid) mayOverlap() bool {
	ctx := g.launch.Context
	return g.image.dependents && g.observer == nil && g.device.options.Completion != Eager &&
		(ctx == nil || ctx.Done() == nil)
}

// launchesDependents reports whether each block has launched dependents or has ended.
func (c *cluster) launchesDependents() bool {
	for _, b := range c.blocks {
		if !b.dependents && b.alive > 0 {
			return false
		}
	}
	return true
}

// keep puts a cluster that goes on where it waits for its turn.
func (g *grid) keep(c *cluster) {
	if !g.holds.Load() || c.released || !c.launchesDependents() {
		g.waiting = append(g.waiting, c)
		if g.idling++; len(g.held) > 0 && g.idling > 64+4*len(g.waiting) {
			g.release(len(g.held)) // others may wait for what these do
		}
		return
	}
	g.idling = 0
	g.held = append(g.held, c)
	if len(g.held) > mostHeld {
		g.release(1)
	}
}

// release lets the first n clusters go on that are held.
func (g *grid) release(n int) {
	for _, c := range g.held[:n] {
		c.released = true
	}
	g.waiting = append(g.waiting, g.held[:n]...)
	g.held = g.held[:copy(g.held, g.held[n:])]
	g.idling = 0
}

// relax lets a grid go on in which no cluster can: those that are held are released, and a grid
// that waits for the one before it is paused. It reports false where nothing of that helps.
func (g *grid) relax() bool {
	switch {
	case len(g.held) > 0:
		g.release(len(g.held))
	case g.primary != nil && !g.primary.complete.Load():
		g.paused = true
	default:
		return false
	}
	g.stalled = 0
	return true
}

// pauses reports whether no cluster of the grid should have its turn now.
func (g *grid) pauses(total uint64) bool {
	switch {
	case g.paused:
		return true
	case g.quota == 0:
		g.paused = true
		return true
	case len(g.held) > 0 && len(g.waiting) == 0 && g.running == 0 && g.next == total:
		g.holds.Store(false)
		g.waiting, g.held = g.held, nil
		g.paused = true
		return true
	}
	if g.quota > 0 {
		g.quota--
	}
	return false
}

// after returns the launch that a launch may begin beside. Any other launch that is paused ends
// first.
func (d *Device) after(l *device.Launch) (*grid, error) {
	if !l.Programmatic || d.options.Observer != nil {
		return nil, d.settle()
	}
	d.mutex.Lock()
	p := d.pending
	if p != nil && p.launch.Stream == l.Stream {
		d.pending = nil
		d.mutex.Unlock()
		return p, nil
	}
	d.mutex.Unlock()
	return nil, d.settle()
}

// settle runs the launch that is paused to its end.
func (d *Device) settle() error {
	d.mutex.Lock()
	g := d.pending
	d.pending = nil
	d.mutex.Unlock()
	if g == nil {
		return nil
	}
	return d.run(g)
}

// beside runs a launch beside the one before it, which ends.
func (d *Device) beside(ctx context.Context, g *grid) error {
	p := g.primary
	p.quota = -1
	if d.options.Completion == Late {
		// The launch before stands still while this one can go on. A kernel that spins waits for
		// it.
		g.quota = 64 + 4*int(min(g.total(), mostWaiting))
		if err := g.run(ctx, d.options.Workers); err != nil {
			return errors.Join(err, p.run(context.Background(), d.options.Workers))
		}
	} else {
		random := rand.New(rand.NewPCG(g.seed, g.number))
		for !p.complete.Load() && !g.complete.Load() {
			x := p
			if random.IntN(2) == 0 {
				x = g
			}
			x.quota, x.turn = 1+random.IntN(8), 1+random.IntN(512)
			if err := x.run(ctx, d.options.Workers); err != nil {
				return err
			}
		}
		p.quota, p.turn = -1, turnLength
	}
	if !p.complete.Load() {
		if err := p.run(ctx, d.options.Workers); err != nil {
			return err
		}
	}
	g.quota, g.turn = -1, turnLength
	return nil
}

// dependents decodes griddepcontrol.
func dependents(d *decoder) (step, error) {
	op := d.operation()
	if op.Has(isa.ModLaunchDependents) {
		d.image.dependents = true
		return func(w *warp, mask uint32) action {
			w.tell(EventDependents, mask, nil)
			w.block.dependents = true
			w.yield = w.block.grid.holds.Load()
			return advance
		}, nil
	}
	return func(w *warp, mask uint32) action {
		if p := w.block.grid.primary; p != nil && !p.complete.Load() {
			return w.park(waitsCompletion, wait{
				note: func() string { return "waits for the launch before it" },
				met:  func() bool { return p.complete.Load() },
			})
		}
		w.tell(EventDependents, mask, nil)
		return advance
	}, nil
}
