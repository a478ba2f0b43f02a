// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"math/rand/v2"
)

// A cluster is a set of blocks that run at the same time and can access each other's shared memory.
// A block launched without clusters is a cluster of one.
type cluster struct {
	grid   *grid
	id     [3]uint32
	blocks []*block
	random *rand.Rand
	order  []*warp
	still  int // consecutive rounds without a change
	quiet  int // consecutive rounds without a change in which all warps yielded early
	spins  spins
	rounds int // consecutive rounds with progress
	sum    int64

	barrier clusterBarrier
	queue   asyncQueue

	products productCache
	refused  bool // a thread has been refused another cluster by cluster launch control
	released bool // the cluster runs again after it was held for launching dependents
}

// An outcome is the state of a cluster after a time slice.
type outcome uint8

// Outcomes of a time slice.
const (
	finished outcome = iota
	faulted
	sliceUsed // the cluster used up its time slice
	stuck     // all threads of the cluster wait, possibly for other clusters
)

// Numbers of consecutive rounds without a change, after which the emulator ends waits step by step.
const (
	roundsToComplete = 1  // complete asynchronous operations
	roundsToTimeout  = 2  // end waits with a time limit
	roundsToBreak    = 64 // let lanes that wait for other lanes of their warp continue alone
	// run other clusters; if they make no progress either, the kernel may hang
	roundsToStop = 128
	roundsToSpin = 256 // treat short time slices like those of spinning warps
)

// start initializes c as the cluster whose first block has index id.
func (c *cluster) start(id [3]uint32) {
	g := c.grid
	size := g.clusterSize()
	n := int(size[0] * size[1] * size[2])
	for len(c.blocks) < n {
		c.blocks = append(c.blocks, &block{grid: g, cluster: c, phases: map[uint64]*phaseState{}})
	}
	c.id, c.still, c.quiet, c.rounds, c.sum, c.spins = id, 0, 0, 0, -1, spins{}
	c.barrier, c.queue, c.refused, c.released = clusterBarrier{}, asyncQueue{}, false, false
	seed := uint64(id[0]) | uint64(id[1])<<24 | uint64(id[2])<<44
	c.random = rand.New(rand.NewPCG(g.seed, seed))
	c.order = c.order[:0]
	for i, b := range c.blocks {
		r := uint32(i)
		b.start([3]uint32{
			id[0]*size[0] + r%size[0], id[1]*size[1] + r/size[0]%size[1],
			id[2]*size[2] + r/size[0]/size[1],
		}, r)
		c.order = append(c.order, b.warps[:b.count]...)
	}
}

// run runs the cluster for about the given number of warp instructions.
func (c *cluster) run(budget int) outcome {
	for budget > 0 && !c.grid.stop.Load() {
		ran, busy, steady, alive, hold := 0, false, false, false, c.grid.holds.Load() && !c.released
		c.shuffle()
		for _, w := range c.order {
			if w.live == 0 {
				continue
			}
			alive = true
			quantum := c.quantum()
			n := w.run(quantum)
			ran, busy, steady = ran+n, busy || n >= quantum, steady || w.steady >= warpQuantum
			if w.block.fault != nil {
				return faulted
			}
			if hold && c.launchesDependents() {
				return sliceUsed
			}
		}
		if !alive {
			return c.drain()
		}
		// with short time slices, continue until waits are known to be stuck
		if budget -= ran; c.grid.mix == nil {
			budget--
		}
		if c.progress(busy, steady) {
			if !c.relieve() {
				return faulted
			}
			continue
		}
		if f := c.unblock(); f != nil {
			c.blocks[0].fail(f)
			return faulted
		}
		if c.still >= roundsToStop {
			c.sample()
			return stuck
		}
	}
	return sliceUsed
}

// warpQuantum is how many instructions a warp runs before the next warp runs. With a seed other
// than 0, the number is random, up to twice this, and the order of the warps is random too.
const warpQuantum = 64

// quantum returns how many instructions the next warp may run before another warp runs.
func (c *cluster) quantum() int {
	if c.grid.seed == 0 {
		return warpQuantum
	}
	if c.grid.mix != nil {
		return 1 + c.random.IntN(4)
	}
	return 1 + c.random.IntN(2*warpQuantum)
}

// shuffle chooses the order of the warps in a round.
func (c *cluster) shuffle() {
	if c.grid.seed != 0 {
		c.random.Shuffle(len(c.order),
			func(i, j int) { c.order[i], c.order[j] = c.order[j], c.order[i] })
	}
}

// After this many rounds with progress, the emulator also ends waits, because the running warps may
// spin until a waiting warp has done something.
const (
	roundsToPoll    = 64
	roundsToRelieve = 4096 // complete asynchronous operations one by one
)

// relieve ends waits of lanes that other warps cannot end, if the cluster makes no progress. It
// returns false after a fault.
func (c *cluster) relieve() bool {
	c.rounds++
	if c.rounds%roundsToPoll == 0 {
		c.poll(false)
	}
	if c.rounds%roundsToRelieve == 0 {
		c.queue.complete(c)
		c.poll(true)
	}
	if f := c.queue.fault; f != nil {
		c.blocks[0].fail(f)
		return false
	}
	return true
}

// progress reports whether a round changed something that other threads can observe, or a warp
// used its whole quantum. Quanta can be so short that spinning warps use them too. They do not
// count if no warp has run steadily for many rounds.
func (c *cluster) progress(busy, steady bool) bool {
	sum := c.changes()
	c.quiet++
	if sum != c.sum || steady {
		c.quiet = 0
	}
	if sum != c.sum || busy && c.quiet < roundsToSpin {
		c.sum, c.still = sum, 0
		c.queue.advance(c)
		return true
	}
	c.still++
	return false
}

// unblock ends the waits that no running warp of the cluster can end: waits for asynchronous
// operations, waits with a time limit, and waits to reconverge.
func (c *cluster) unblock() *Fault {
	if c.still >= roundsToComplete && c.queue.complete(c) {
		return c.queue.fault
	}
	if c.poll(false) {
		return c.queue.fault
	}
	if c.still >= roundsToTimeout && c.poll(true) {
		return nil
	}
	if c.still == roundsToBreak || c.asleep() {
		c.breakJoins()
		if c.asleep() && c.queue.empty() && !c.grid.changing() && !c.poll(true) {
			c.still = roundsToStop
		}
	}
	return nil
}

// asleep reports whether every fragment of the cluster waits.
func (c *cluster) asleep() bool {
	for _, w := range c.order {
		if w.cur != nil || len(w.ready) > 0 {
			return false
		}
	}
	return true
}

// poll wakes fragments whose wait is over or whose time limit has passed.
func (c *cluster) poll(timeout bool) (woke bool) {
	for _, w := range c.order {
		for i := len(w.waiting) - 1; i >= 0; i-- {
			f := w.waiting[i]
			if f.group.met != nil && f.group.met() || timeout && f.state == waitsPhase {
				last := f.group
				w.wake(f)
				if f.expired = timeout; timeout {
					f.inVain = last
				}
				woke = true
			}
		}
	}
	return woke
}

// breakJoins lets lanes continue that wait for other lanes of their warp to reconverge. PTX does
// not guarantee reconvergence but guarantees progress, and the other lanes may spin until the
// waiting lanes have done something.
func (c *cluster) breakJoins() {
	for _, w := range c.order {
		w.breakJoins()
	}
}

// breakJoins does this for one warp.
func (w *warp) breakJoins() {
	for _, f := range w.fragments() {
		for j := f.joins; j != nil; j = j.up {
			if j.come != 0 {
				w.release(j)
			}
		}
	}
}

// drain ends a cluster whose threads have all exited. Asynchronous operations in flight still take
// effect.
func (c *cluster) drain() outcome {
	for !c.queue.empty() {
		if !c.queue.complete(c) {
			break
		}
	}
	if c.queue.fault != nil {
		c.blocks[0].fail(c.queue.fault)
		return faulted
	}
	return finished
}
