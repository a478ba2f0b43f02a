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
	sum    int64

	barrier clusterBarrier
	queue   asyncQueue

	products productCache
	refused  bool // a thread has seen that there is no cluster left to take over
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
	roundsToComplete = 1    // until asynchronous operations are completed
	roundsToTimeout  = 2    // until waits with a time limit end
	roundsToBreak    = 64   // until lanes that wait for others of their warp go on alone
	roundsToStop     = 4096 // until the cluster is taken to hang
)

// start makes c the cluster that holds the blocks from an index on.
func (c *cluster) start(id [3]uint32) {
	g := c.grid
	size := g.clusterSize()
	n := int(size[0] * size[1] * size[2])
	for len(c.blocks) < n {
		c.blocks = append(c.blocks, &block{grid: g, cluster: c, phases: map[uint64]*phaseState{}})
	}
	c.id, c.still, c.sum = id, 0, -1
	c.barrier, c.queue, c.refused = clusterBarrier{}, asyncQueue{}, false
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
		ran, most, alive := 0, 0, false
		for _, w := range c.order {
			if w.live == 0 {
				continue
			}
			alive = true
			n := w.run(warpQuantum)
			ran, most = ran+n, max(most, n)
			if w.block.fault != nil {
				return faulted
			}
		}
		if !alive {
			return c.drain()
		}
		budget -= ran + 1
		if c.progress(most) {
			continue
		}
		if f := c.unblock(); f != nil {
			c.blocks[0].fail(f)
			return faulted
		}
		if c.still >= roundsToStop {
			return stuck
		}
		if c.grid.seed != 0 {
			c.random.Shuffle(len(c.order), func(i, j int) { c.order[i], c.order[j] = c.order[j], c.order[i] })
		}
	}
	return goesOn
}

// warpQuantum is how many instructions a warp runs before the next has its turn.
const warpQuantum = 64

// progress reports whether a round changed anything that others can see, or computed.
// Most is the number of instructions of the warp that ran the most.
func (c *cluster) progress(most int) bool {
	sum := int64(0)
	for _, b := range c.blocks {
		sum += b.changes
	}
	if sum != c.sum || most >= warpQuantum {
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

// breakJoins lets lanes go on that wait for others of their warp. Lanes need not meet, but they are to
// make progress: the others may spin until these have done something.
func (c *cluster) breakJoins() {
	for _, w := range c.order {
		look := func(f *fragment) {
			for j := f.joins; j != nil; j = j.up {
				if j.come != 0 {
					w.release(j)
				}
			}
		}
		if w.cur != nil {
			look(w.cur)
		}
		for _, list := range [][]*fragment{w.ready, w.waiting} {
			for _, f := range list {
				look(f)
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
