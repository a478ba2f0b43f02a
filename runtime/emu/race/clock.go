// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

// Slots of a thread. A clock has a component for each slot of each thread, followed by components
// for warps and mbarriers.
const (
	slotMain       = iota // accesses of the thread itself
	slotShared            // accesses to shared memory, visible to asynchronous operations
	slotGlobal            // accesses to global memory that a proxy fence covers
	slotInit              // mbarriers that fence.mbarrier_init made visible
	slotCopy              // completed cp.async operations
	slotBulkReads         // operations of bulk groups whose reads are complete
	slotBulkWrites        // operations of bulk groups that are complete
	slotMap               // writes that were shown to the tensor map proxy
	slotCopyShown         // cp.async operations that a proxy fence showed after they were complete
	slotTensor            // tcgen05 operations before the last tcgen05.fence::before_thread_sync
	// accesses to shared memory of other blocks, visible to asynchronous operations
	slotPeer
	slotDevice // accesses before the last fence of gpu or sys scope
	slots
)

// partSize is the number of components in a part, which holds the threads of a warp.
const partSize = slots * 32

// A part is a fixed number of components of a clock. It is not modified once clocks share it.
type part struct {
	shared bool
	x      [partSize]uint32
}

// A clock is a vector clock. For each agent, it holds an epoch: accesses of the agent up to this
// epoch happen before the events with this clock. It must not be modified once it is shared. Clocks
// share their parts, because most threads of a launch have the same epochs for most other threads.
type clock []*part

// at returns the epoch of an agent, or 0 if no access of the agent is covered.
func (c clock) at(agent uint32) uint32 {
	if i := int(agent / partSize); i < len(c) && c[i] != nil {
		return c[i].x[agent%partSize]
	}
	return 0
}

// raise raises a component to at least x.
func (c *clock) raise(agent, x uint32) {
	if x == 0 {
		return
	}
	i := int(agent / partSize)
	if n := i + 1 - len(*c); n > 0 {
		*c = append(*c, make(clock, n)...)
	}
	p := (*c)[i]
	switch {
	case p == nil:
		p = new(part)
		(*c)[i] = p
	case p.x[agent%partSize] >= x:
		return
	case p.shared:
		p = &part{x: p.x}
		(*c)[i] = p
	}
	p.x[agent%partSize] = x
}

// join raises all epochs to at least those of b.
func (c *clock) join(b clock) {
	if n := len(b) - len(*c); n > 0 {
		*c = append(*c, make(clock, n)...)
	}
	for i, q := range b {
		p := (*c)[i]
		switch {
		case q == nil || p == q || p != nil && p.covers(q):
		case p == nil || q.covers(p):
			q.shared = true
			(*c)[i] = q
		default:
			if p.shared {
				p = &part{x: p.x}
				(*c)[i] = p
			}
			for k, x := range q.x {
				p.x[k] = max(p.x[k], x)
			}
		}
	}
}

// joinFrom raises the epochs of the agents from first to at least those of b.
func (c *clock) joinFrom(b clock, first uint32) {
	for i := int(first / partSize); i < len(b); i++ {
		if b[i] == nil || i < len(*c) && (*c)[i] == b[i] {
			continue
		}
		for k, x := range b[i].x {
			if agent := uint32(i*partSize + k); agent >= first {
				c.raise(agent, x)
			}
		}
	}
}

// covers reports whether all epochs of p are at least those of q.
func (p *part) covers(q *part) bool {
	for i, x := range q.x {
		if x > p.x[i] {
			return false
		}
	}
	return true
}

// covers reports whether all epochs of c are at least those of b.
func (c clock) covers(b clock) bool {
	for i, q := range b {
		switch {
		case q == nil || i < len(c) && c[i] == q:
		case i >= len(c) || c[i] == nil:
			if q.x != [partSize]uint32{} {
				return false
			}
		case !c[i].covers(q):
			return false
		}
	}
	return true
}

// clone returns a copy of a clock. Both share their parts until one of them is modified.
func (c clock) clone() clock {
	for _, p := range c {
		if p != nil {
			p.shared = true
		}
	}
	return append(clock(nil), c...)
}

// only returns a clock in which only one agent has an epoch other than 0.
func only(agent, x uint32) (c clock) {
	c.raise(agent, x)
	return c
}

// A view describes which accesses happen before the next event of a thread or of an asynchronous
// operation. It consists of a clock, which other views may share, and of the epochs of the thread's
// own slots.
type view struct {
	base   clock
	thread uint32
	own    [slots]uint32
	begun  bool // all blocks of its cluster have begun
}

// knows reports whether an epoch of an agent happens before the events with this view.
func (v *view) knows(agent, epoch uint32) bool {
	if agent/slots == v.thread {
		return epoch <= v.own[agent%slots]
	}
	return epoch <= v.base.at(agent)
}

// A sum is the join of several views: an access is in it if it is in one of them.
type sum struct {
	all     clock
	sources []clock // bases already joined
	shared  bool    // the clock is shared
}

// add joins a view into the sum.
func (s *sum) add(v *view) {
	s.addClock(v.base)
	for i, x := range v.own {
		s.all.raise(v.thread*slots+uint32(i), x)
	}
}

// addClock joins a clock into the sum.
func (s *sum) addClock(c clock) {
	if len(c) == 0 {
		return
	}
	for _, b := range s.sources {
		if len(b) == len(c) && &b[0] == &c[0] {
			return
		}
	}
	if len(s.sources) < 8 {
		s.sources = append(s.sources, c)
	}
	s.all.join(c)
}
