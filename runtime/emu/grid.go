// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A grid is a running launch of a kernel.
type grid struct {
	device *Device
	image  *image
	launch *device.Launch
	params *region
	seed   uint64
	number uint64 // %gridid

	workspace uint64 // address of the grid barrier of a cooperative launch, or 0

	began  uint64 // the device clock when it began
	checks bool   // checks reads of uninitialized memory
	strict bool   // also checks loads whose values are unused
	alone  bool   // one worker runs the grid, so atomics need no locks

	observer  Observer // nil if nothing observes the launch
	stepper   Stepper  // nil if nothing steps through the launch
	guide     Guide    // nil if seeds choose the order
	holder    Holder   // nil if nothing delays warps
	state     State    // state that the stepper receives
	event     Event    // reused for each event
	addresses [eval.Lanes]Address
	serial    uint64 // number of the last asynchronous operation

	mix    *rand.Rand // chooses the time slices of blocks; nil if the slices are long and in order
	starts []int      // order in which mix starts the clusters

	mutex   sync.Mutex
	turn    sync.Cond  // a cluster has been put back
	next    uint64     // next cluster to start
	waiting []*cluster // started but not finished
	idle    []*cluster // finished, for reuse
	running int
	fault   *Fault
	stalled int // clusters suspended since any cluster last made progress
	peers   peerWait

	executed    atomic.Int64 // instructions of threads
	charged     atomic.Int64 // instructions for which matrix products and copies count
	changedAt   int64        // executed at the last progress
	changedTime time.Time
	ended       atomic.Int64 // blocks that have ended
	stop        atomic.Bool  // the context has ended

	timer   timer
	overlap // with the previous and the next launch
}

// sharedBytes returns the shared memory of a block in bytes.
func (g *grid) sharedBytes() int { return g.image.sharedSize + int(g.launch.Shared) }

// clusterSize returns the number of blocks of a cluster along x, y and z.
func (g *grid) clusterSize() [3]uint32 {
	if g.launch.Cluster[0] == 0 {
		return [3]uint32{1, 1, 1}
	}
	return g.launch.Cluster
}

// clusters returns the number of clusters of the grid along x, y and z.
func (g *grid) clusters() [3]uint32 {
	size := g.clusterSize()
	n := g.launch.Grid
	for i := range n {
		n[i] /= size[i]
	}
	return n
}

// run runs the grid with the given number of workers, to its end or until it is paused.
func (g *grid) run(ctx context.Context, workers int) error {
	total := g.total()
	workers = int(min(uint64(max(workers, 1)), total))
	if g.observer != nil {
		workers = 1
		g.begin()
		defer g.finish()
	}
	defer context.AfterFunc(ctx, func() { g.stop.Store(true) })()
	defer g.watch(g.device.options.Progress)()
	g.paused = false
	g.turn.L = &g.mutex
	g.changedTime = time.Now()
	g.timer.start(g.changedTime)
	g.alone = workers == 1 && !g.device.shares()
	if o := &g.device.options; o.Interleave && o.Seed != 0 && workers == 1 && g.guide == nil &&
		total <= maxMixedClusters {
		g.mix = rand.New(rand.NewPCG(o.Seed, total))
		g.starts = g.mix.Perm(int(total))
	}
	if workers == 1 {
		g.work(total)
	} else {
		var all sync.WaitGroup
		for range workers {
			all.Go(func() { g.work(total) })
		}
		all.Wait()
	}
	if g.fault != nil {
		return g.fault
	}
	if done, all := g.ended.Load(), int64(total)*int64(g.clusterBlocks()); done == all {
		g.complete.Store(true)
	} else if g.stop.Load() {
		return fmt.Errorf("kernel %s was stopped after %d of %d blocks: %w", g.image.entry.Name,
			done, all, context.Cause(ctx))
	}
	return nil
}

// total returns the number of clusters.
func (g *grid) total() uint64 {
	n := g.clusters()
	return uint64(n[0]) * uint64(n[1]) * uint64(n[2])
}

// clusterBlocks returns the number of blocks of a cluster.
func (g *grid) clusterBlocks() int {
	n := g.clusterSize()
	return int(n[0] * n[1] * n[2])
}

// clusterSlice is the time slice of a cluster, in warp instructions.
const clusterSlice = 1 << 18

// Limits of blocks that run in random slices: warp instructions in a slice, and clusters of the
// grid.
const (
	mixedSlice       = 64
	maxMixedClusters = 4096
)

// TrapExecuted is the fault message of a kernel that executes trap.
const TrapExecuted = "the kernel executed a trap"

// LimitReached is the fault message of a launch that reached its limit of instructions.
const LimitReached = "the launch reached its limit of instructions"

// work is the body of a worker: it runs clusters until all of them have ended.
func (g *grid) work(total uint64) {
	for !g.stop.Load() {
		c := g.take(total)
		if c == nil {
			return
		}
		before, changes := c.executed(), c.changes()
		slice := g.slice
		if g.mix != nil {
			slice = 1 + g.mix.IntN(mixedSlice>>(4*g.mix.IntN(2)))
		}
		out := c.run(slice)
		g.executed.Add(c.executed() - before)
		if g.beyondLimit(out) {
			out = faulted
			c.blocks[0].fail(&Fault{Kernel: g.image.entry.Name, Warp: -1, Lane: -1,
				Message: LimitReached})
		}
		g.put(c, out, c.changes() != changes)
	}
}

// beyondLimit reports whether the launch has reached its limit of instructions, after a cluster ran
// with the given outcome. A grid that waits in loops without making progress may be found to hang
// first.
func (g *grid) beyondLimit(out outcome) bool {
	most := g.device.options.Limit
	if out == stuck {
		most *= 2
	}
	return most > 0 && (out == sliceUsed || out == stuck) &&
		g.executed.Load()+g.charged.Load() > most
}

// charge adds the work of an operation, as a number of instructions of threads that take about the
// same time, for the limit of the launch.
func (g *grid) charge(instructions int) { g.charged.Add(int64(instructions)) }

// executed returns the number of instructions that the cluster's warps have run.
func (c *cluster) executed() (n int64) {
	for _, b := range c.blocks {
		n += b.threadInstructions
	}
	return n
}

// changes returns how many changes the blocks of the cluster made that other blocks can observe.
func (c *cluster) changes() (n int64) {
	for _, b := range c.blocks {
		n += b.changes
	}
	return n
}

// take returns the cluster to run next: one that has not started unless too many have started,
// otherwise the cluster that has waited longest. It returns nil if the worker must end.
func (g *grid) take(total uint64) *cluster {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for g.mayHang() && g.running > 0 && g.next == total && g.fault == nil && !g.stop.Load() {
		g.turn.Wait() // whether the grid hangs is known when no cluster runs
	}
	if g.fault != nil || g.pauses(total) {
		return nil
	}
	if n := len(g.waiting); n > 0 &&
		(n >= maxRunningClusters || g.next == total || g.mix != nil && g.mix.IntN(2) == 0) {
		c := g.waiting[0]
		g.waiting = g.waiting[:copy(g.waiting, g.waiting[1:])]
		g.running++
		return c
	}
	if g.next == total {
		return nil
	}
	var c *cluster
	if n := len(g.idle); n > 0 {
		c = g.idle[n-1]
		g.idle = g.idle[:n-1]
	} else {
		c = &cluster{grid: g}
	}
	shape := g.clusters()
	at := g.next
	if g.mix != nil {
		at = uint64(g.starts[at])
	}
	g.next++
	g.running++
	x, y := uint64(shape[0]), uint64(shape[1])
	c.start([3]uint32{uint32(at % x), uint32(at / x % y), uint32(at / x / y)})
	return c
}

// maxRunningClusters is the maximum number of clusters that run concurrently in time slices. A
// large device holds about as many.
const maxRunningClusters = 2048

// put adds a cluster to the waiting clusters after its time slice. changed is true if the cluster
// changed something for which other clusters may wait.
func (g *grid) put(c *cluster, out outcome, changed bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	defer g.turn.Broadcast()
	if changed || out == finished {
		g.progressed()
		g.device.ordering.changes.Add(1)
	}
	g.running--
	switch out {
	case finished:
		g.ended.Add(int64(len(c.blocks)))
		g.idle = append(g.idle, c)
	case faulted:
		for _, b := range c.blocks {
			if b.fault != nil && g.fault == nil {
				g.fault = b.fault
			}
		}
	case sliceUsed:
		g.stalled = 0
		g.keep(c)
	case stuck:
		c.still = 0
		g.stalled++
		g.waiting = append(g.waiting, c)
		if g.mayHang() && g.running == 0 && g.fault == nil && !g.relax() && !g.waitsForPeers() {
			g.decide()
		}
	}
}

// changing reports whether a cluster that may still make progress can change something.
func (g *grid) changing() bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.running > 1 || len(g.waiting) > 0 || g.next < g.total()
}
