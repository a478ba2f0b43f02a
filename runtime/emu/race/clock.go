// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

// Slots of a thread. A clock has a component for each slot of each thread, and components of warps and
// mbarriers behind them.
const (
	slotMain       = iota // accesses of the thread itself
	slotShared            // those that a proxy fence showed to asynchronous operations, in shared memory
	slotGlobal            // and in global memory
	slotInit              // mbarriers that fence.mbarrier_init showed
	slotCopy              // cp.async operations that are complete
	slotBulkReads         // operations of bulk groups whose reads are complete
	slotBulkWrites        // operations of bulk groups that are complete
	slotMap               // writes that were shown to the tensor map proxy
	slots
)

// A clock holds, for each agent, the last epoch that is known. It is never changed once it is shared.
type clock []uint32

// at returns the component of an agent.
func (c clock) at(agent uint32) uint32 {
	if int(agent) < len(c) {
		return c[agent]
	}
	return 0
}

// raise sets a component to at least x.
func (c *clock) raise(agent, x uint32) {
	if x == 0 {
		return
	}
	for len(*c) <= int(agent) {
		*c = append(*c, 0)
	}
	if (*c)[agent] < x {
		(*c)[agent] = x
	}
}

// join raises all components to those of b.
func (c *clock) join(b clock) {
	if len(*c) < len(b) {
		*c = append(*c, make(clock, len(b)-len(*c))...)
	}
	for i, x := range b {
		if x > (*c)[i] {
			(*c)[i] = x
		}
	}
}

// covers reports whether all components of b are known.
func (c clock) covers(b clock) bool {
	for i, x := range b {
		if x > c.at(uint32(i)) {
			return false
		}
	}
	return true
}

// A view is what a thread or an asynchronous operation knows: a clock that it may share with others,
// and the slots of its own thread.
type view struct {
	base   clock
	thread uint32
	own    [slots]uint32
	begun  bool // all blocks of its cluster have begun
}

// knows reports whether an epoch of an agent is known.
func (v *view) knows(agent, epoch uint32) bool {
	if agent/slots == v.thread {
		return epoch <= v.own[agent%slots]
	}
	return epoch <= v.base.at(agent)
}

// A sum is the join of several views.
type sum struct {
	all     clock
	sources []clock // bases that are part of it already
	shared  bool    // others hold all
}

// add joins a view.
func (s *sum) add(v *view) {
	s.addClock(v.base)
	for i, x := range v.own {
		s.all.raise(v.thread*slots+uint32(i), x)
	}
}

// addClock joins a clock.
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
