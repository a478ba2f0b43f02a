// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import "slices"

// A clock holds what an agent knows to have happened: the progress of each agent, the completed
// asynchronous operations, and for each mbarrier the last phase that is certainly complete.
type clock struct {
	agents []int
	done   []uint64 // a set of operations
	phases []int    // by mbarrier index, the number of phases that are certainly complete
}

// clock returns an empty clock.
func (m *machine) clock() *clock {
	return &clock{agents: make([]int, len(m.agents))}
}

func (c *clock) join(o *clock) {
	for i, n := range o.agents {
		c.agents[i] = max(c.agents[i], n)
	}
	if n := len(o.done) - len(c.done); n > 0 {
		c.done = append(c.done, make([]uint64, n)...)
	}
	for i, bits := range o.done {
		c.done[i] |= bits
	}
	c.reach(len(o.phases))
	for i, n := range o.phases {
		c.phases[i] = max(c.phases[i], n)
	}
}

// reach extends the clock to the given number of mbarriers.
func (c *clock) reach(objects int) {
	if n := objects - len(c.phases); n > 0 {
		c.phases = append(c.phases, make([]int, n)...)
	}
}

func (c *clock) clone() *clock {
	return &clock{slices.Clone(c.agents), slices.Clone(c.done), slices.Clone(c.phases)}
}

// ended records that an operation has completed.
func (c *clock) ended(operation int) {
	if n := operation/64 + 1 - len(c.done); n > 0 {
		c.done = append(c.done, make([]uint64, n)...)
	}
	c.done[operation/64] |= 1 << (operation % 64)
}

// knows reports whether an operation is known to have completed.
func (c *clock) knows(operation int) bool {
	return operation/64 < len(c.done) && c.done[operation/64]>>(operation%64)&1 != 0
}

// saw records that a phase of an mbarrier is complete.
func (c *clock) saw(o *object, phase int) {
	c.reach(o.number + 1)
	c.phases[o.number] = max(c.phases[o.number], phase+1)
}

// last returns the last phase of an mbarrier that is known to be complete, or -1.
func (c *clock) last(o *object) int {
	if o.number < len(c.phases) {
		return c.phases[o.number] - 1
	}
	return -1
}
