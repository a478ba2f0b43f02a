// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// A reader specifies what reads a stage besides the threads of the role. Release waits for it.
type reader uint8

const (
	threads reader = iota
	wgmma          // the tensor cores of sm_90a; the warpgroup waits for its MMAs
	tcgen05        // the tensor cores of sm_100a; MMAs arrive on the mbarrier when they complete
)

// reads marks a stage as read by tensor-core operations.
func (s *Stage) reads(by reader) {
	if s != nil && s.p != nil {
		for i := range s.p.covers {
			s.p.covers[i].Others = true
		}
		s.by = by
	}
}

// release releases the stage after everything that reads it has completed.
func (s *Stage) release() {
	p := s.p
	k := p.k
	empty := s.Empty()
	arrivals := 1
	defer func() { k.reading = k.reading[:len(k.reading)-1] }()
	switch {
	case s.by != tcgen05 && p.pair:
		k.fault(&ruleProtocol,
			"deadlock: a CTA pair shares pipeline %s, but threads read it, and those of the odd block would wait forever; use PerBlock",
			p.name)
	case s.by == tcgen05 && k.tmem.pair && !p.pair:
		k.fault(&ruleProtocol,
			"pipeline %s is separate for each block (PerBlock), but the MMA of a CTA pair reads both blocks",
			p.name)
	case s.by == tcgen05:
		s.settle()
		if p.far {
			p.commit(empty)
			arrivals = p.signals()
		} else {
			k.When(k.Leader(), func() { k.commit(empty, p.pair) })
		}
	case p.far && p.signals() < k.clusterSize():
		s.finish()
		s.settle()
		arrivals = k.roleWarps() * p.signals()
		lane, order := k.Lane(), s.order()
		near := k.U32(1).Shl(lane).And(p.neighbours()).NEI(0)
		k.When(near, func() { empty.arriveAt(lane, order) })
	case p.far:
		s.finish()
		s.settle()
		// One lane per block of the cluster arrives on that block's mbarrier.
		arrivals = k.roleWarps() * k.clusterSize()
		lane, order := k.Lane(), s.order()
		k.When(lane.LTI(int64(k.clusterSize())), func() { empty.arriveAt(lane, order) })
	default:
		s.finish()
		arrivals = k.roleWarps()
		s.settle()
		k.When(k.Leader(), empty.Arrive)
	}
	p.arrives(p.empty, arrivals)
}

// order returns the memory order of the arrivals in other blocks.
func (s *Stage) order() string {
	if s.by == wgmma && !s.opened {
		return ".relaxed" // only the tensor cores read the stage, and they have completed
	}
	return ".release"
}

// settle makes sure that all threads of the warp have read the stage before one of them releases
// it. The next copy overwrites the stage through the async proxy, so no load may still be in
// flight.
func (s *Stage) settle() {
	switch k := s.p.k; {
	case s.by == threads || s.opened:
		k.FenceAsync()
		k.SyncWarp()
	case s.by == wgmma && !s.met:
		// the loop with the MMAs may run zero times, and then some lanes still wait for the stage
		k.SyncWarp()
	}
}

// finish waits for the wgmma operations of the stage.
func (s *Stage) finish() {
	if s.by == wgmma {
		s.p.k.endProducts()
	}
}
