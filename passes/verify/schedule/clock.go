// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import "slices"

// A clock is a vector clock. It holds what is ordered before the current event of an agent: the
// progress of each agent, the completed asynchronous operations, and for each mbarrier the last
// phase that is certainly complete.
type clock struct {
	agents []int    // for each agent, the number of its events that are ordered before
	done   []uint64 // a bit set of operations
	phases []int    // by mbarrier index, the number of phases that are certainly complete
}

// newClock returns a clock that contains no event.
func (m *machine) newClock() *clock {
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
	c.grow(len(o.phases))
	for i, n := range o.phases {
		c.phases[i] = max(c.phases[i], n)
	}
}

// grow extends the clock to the given number of mbarriers.
func (c *clock) grow(objects int) {
	if n := objects - len(c.phases); n > 0 {
		c.phases = append(c.phases, make([]int, n)...)
	}
}

func (c *clock) clone() *clock {
	return &clock{slices.Clone(c.agents), slices.Clone(c.done), slices.Clone(c.phases)}
}

// addCompleted records that an operation has completed.
func (c *clock) addCompleted(operation int) {
	if n := operation/64 + 1 - len(c.done); n > 0 {
		c.done = append(c.done, make([]uint64, n)...)
	}
	c.done[operation/64] |= 1 << (operation % 64)
}

// hasCompleted reports whether an operation has certainly completed.
func (c *clock) hasCompleted(operation int) bool {
	return operation/64 < len(c.done) && c.done[operation/64]>>(operation%64)&1 != 0
}

// addPhase records that a phase of an mbarrier is complete.
func (c *clock) addPhase(o *mbarrier, phase int) {
	c.grow(o.number + 1)
	c.phases[o.number] = max(c.phases[o.number], phase+1)
}

// lastPhase returns the last phase of an mbarrier that is certainly complete, or -1.
func (c *clock) lastPhase(o *mbarrier) int {
	if o.number < len(c.phases) {
		return c.phases[o.number] - 1
	}
	return -1
}
