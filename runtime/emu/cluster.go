// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"math/rand/v2"
)

// A cluster is blocks that run at the same time and can reach each other's shared memory. A block
// that was launched without clusters is one by itself.
type cluster struct {
	grid   *grid
	id     [3]uint32
	blocks []*block
	random *rand.Rand
	order  []*warp
	still  int // rounds in which nothing changed
	rounds int // of progress
	sum    int64

	barrier clusterBarrier
	queue   asyncQueue

	products productCache
	refused  bool // a thread has seen that there is no cluster left to take over
	released bool // it is not held when it launches dependents
}

// An outcome is how far a cluster came.
type outcome uint8

// Outcomes.
const (
	finished outcome = iota
	faulted
	goesOn // has used up its budget
	stuck  // only others can change anything for it
)

// Rounds without a change after which waits are given up one after another.
const (
	roundsToComplete = 1   // until asynchronous operations are completed
	roundsToTimeout  = 2   // until waits with a time limit end
	roundsToBreak    = 64  // until lanes that wait for others of their warp go on alone
	roundsToStop     = 128 // until other clusters run; if they make no progress, the kernel hangs
)

// start makes c the cluster that holds the blocks from an index on.
func (c *cluster) start(id [3]uint32) {
	g := c.grid
	size := g.clusterSize()
	n := int(size[0] * size[1] * size[2])
	for len(c.blocks) < n {
		c.blocks = append(c.blocks, &block{grid: g, cluster: c, phases: map[uint64]*phaseState{}})
	}
	c.id, c.still, c.rounds, c.sum = id, 0, 0, -1
	c.barrier, c.queue, c.refused, c.released = clusterBarrier{}, asyncQueue{}, false, false
	seed := uint64(id[0]) | uint64(id[1])<<24 | uint64(id[2])<<44
	c.random = rand.New(rand.NewPCG(g.seed, seed))
	c.order = c.order[:0]
	for i, b := range c.blocks {
		r := uint32(i)
		b.start([3]uint32{
			id[0]*size[0] + r%size[0], id[1]*size[1] + r/size[0]%size[1], id[2]*size[2] + r/size[0]/size[1],
		}, r)
		c.order = append(c.order, b.warps[:b.count]...)
	}
}

// run runs the cluster for about so many instructions of warps.
func (c *cluster) run(budget int) outcome {
	for budget > 0 && !c.grid.stop.Load() {
		ran, busy, alive, hold := 0, false, false, c.grid.holds.Load() && !c.released
		c.shuffle()
		for _, w := range c.order {
			if w.live == 0 {
				continue
			}
			alive = true
			quantum := c.quantum()
			n := w.run(quantum)
			ran, busy = ran+n, busy || n >= quantum
			if w.block.fault != nil {
				return faulted
			}
			if hold && c.launchesDependents() {
				return goesOn
			}
		}
		if !alive {
			return c.drain()
		}
		if budget -= ran; c.grid.mix == nil { // short turns go on until waits are known to be stuck
			budget--
		}
		if c.progress(busy) {
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
			return stuck
		}
	}
	return goesOn
}

// warpQuantum is how many instructions a warp runs before the next has its turn. With a seed other
// than 0 it is a random number up to twice that, and the order of the warps is random too.
const warpQuantum = 64

// quantum returns how many instructions the next warp runs.
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
		c.random.Shuffle(len(c.order), func(i, j int) { c.order[i], c.order[j] = c.order[j], c.order[i] })
	}
}

// Rounds of progress after which waits are looked at, although warps go on: they may wait for those
// that do not.
const (
	roundsToPoll    = 64
	roundsToRelieve = 4096 // asynchronous operations complete one by one
)

// relieve lets waits end while other warps make progress. A false result is a fault.
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

// progress reports whether a round changed anything that others can see, or a warp was busy for as
// long as it might run.
func (c *cluster) progress(busy bool) bool {
	sum := c.changes()
	if sum != c.sum || busy {
		c.sum, c.still = sum, 0
		c.queue.advance(c)
		return true
	}
	c.still++
	return false
}

// unblock lets waits end that nothing else ends.
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
		if c.asleep() && c.queue.empty() && !c.grid.changing() {
			c.still = roundsToStop
		}
	}
	return nil
}

// asleep reports whether every fragment waits.
func (c *cluster) asleep() bool {
	for _, w := range c.order {
		if w.cur != nil || len(w.ready) > 0 {
			return false
		}
	}
	return true
}

// poll wakes fragments whose wait is over, or that have waited for as long as they may.
func (c *cluster) poll(timeout bool) (woke bool) {
	for _, w := range c.order {
		for i := len(w.waiting) - 1; i >= 0; i-- {
			f := w.waiting[i]
			if f.group.met != nil && f.group.met() || timeout && f.state == waitsPhase {
				f.expired = timeout
				w.wake(f)
				woke = true
			}
		}
	}
	return woke
}

// breakJoins lets lanes go on that wait for others of their warp. Lanes need not meet, but they are
// to make progress: the others may spin until these have done something.
func (c *cluster) breakJoins() {
	for _, w := range c.order {
		w.breakJoins()
	}
}

// breakJoins lets the lanes of one warp go on.
func (w *warp) breakJoins() {
	for _, f := range w.fragments() {
		for j := f.joins; j != nil; j = j.up {
			if j.come != 0 {
				w.release(j)
			}
		}
	}
}

// drain ends the cluster: asynchronous operations that are in flight still write what they copy.
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
