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

// A launch with programmatic stream serialization may begin when all blocks of the previous launch
// have run griddepcontrol.launch_dependents or have ended. The emulator therefore pauses a launch
// whose kernel contains that instruction, and resumes it at the next use of the device. If a
// programmatic launch follows on the stream, the two run concurrently: the new one first, up to its
// griddepcontrol.wait, or alternately as the seed decides. Launches do not overlap if there is an
// observer, if the context can end, or if operations complete eagerly.

// An overlap holds the state of a grid that may run concurrently with the previous or with the next
// launch on its stream.
type overlap struct {
	primary  *grid       // the previous launch, which griddepcontrol.wait waits for; or nil
	complete atomic.Bool // all blocks have exited
	// clusters that executed launch_dependents are held until all clusters have executed it
	holds   atomic.Bool
	held    []*cluster // the clusters that are held
	idling  int        // time slices of other clusters since one was held
	paused  bool       // paused until the next use of the device
	quota   int        // time slices until the grid is paused; negative for no limit
	slice   int        // instructions of a time slice
	counted int64      // instructions already added to the statistics of the device
	seen    bool       // the grid has run without the next launch
}

// maxHeldClusters limits how many clusters may be held until all clusters have launched dependents.
// A real device cannot hold all clusters of a large grid either.
const maxHeldClusters = 256

// mayOverlap reports whether a grid can be paused for a dependent launch.
func (g *grid) mayOverlap() bool {
	ctx := g.launch.Context
	return g.image.dependents && g.observer == nil && g.device.options.Completion != Eager &&
		(ctx == nil || ctx.Done() == nil)
}

// launchesDependents reports whether each block has launched dependents or has exited.
func (c *cluster) launchesDependents() bool {
	for _, b := range c.blocks {
		if !b.dependents && b.alive > 0 {
			return false
		}
	}
	return true
}

// keep queues a cluster for its next time slice. A cluster that launched dependents is held
// instead, until release is called.
func (g *grid) keep(c *cluster) {
	if !g.holds.Load() || c.released || !c.launchesDependents() {
		g.waiting = append(g.waiting, c)
		if g.idling++; len(g.held) > 0 && g.idling > 64+4*len(g.waiting) {
			g.release(len(g.held)) // other clusters may wait for these
		}
		return
	}
	g.idling = 0
	g.held = append(g.held, c)
	if len(g.held) > maxHeldClusters {
		g.release(1)
	}
}

// release resumes the first n clusters that are held.
func (g *grid) release(n int) {
	for _, c := range g.held[:n] {
		c.released = true
	}
	g.waiting = append(g.waiting, g.held[:n]...)
	g.held = g.held[:copy(g.held, g.held[n:])]
	g.idling = 0
}

// relax unblocks a grid in which no cluster can run. It releases clusters that are held, or pauses
// a grid that waits for the previous one. It returns false if neither applies, and no warp was
// delayed.
func (g *grid) relax() bool {
	switch {
	case g.holder != nil && g.holder.Release():
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

// pauses reports whether the grid must be paused now. total is the number of its clusters.
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

// after returns the paused launch that a new launch may overlap with. Any other paused launch is
// run to its end first.
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

// settle runs the paused launch, if there is one, to its end.
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

// beside runs a launch concurrently with the previous one, and ends the previous one.
func (d *Device) beside(ctx context.Context, g *grid) error {
	p := g.primary
	p.quota = -1
	if d.options.Completion == Late {
		// The previous launch is paused while the new one can run. A kernel that spins may wait for
		// it.
		g.quota = 64 + 4*int(min(g.total(), maxRunningClusters))
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
			x.quota, x.slice = 1+random.IntN(8), 1+random.IntN(512)
			if err := x.run(ctx, d.options.Workers); err != nil {
				return err
			}
		}
		p.quota, p.slice = -1, clusterSlice
	}
	if !p.complete.Load() {
		if err := p.run(ctx, d.options.Workers); err != nil {
			return err
		}
	}
	g.quota, g.slice = -1, clusterSlice
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
