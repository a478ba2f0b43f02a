// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// A reader specifies which asynchronous operations read a stage, besides the threads of the role.
// The release of the stage waits for them.
type reader uint8

const (
	threads reader = iota
	wgmma          // the tensor cores of sm_90a; the warpgroup waits for its MMAs
	tcgen05        // the tensor cores of sm_100a; MMAs arrive on the mbarrier when they complete
)

// markRead records that tensor-core operations of the given kind read the stage.
func (s *Stage) markRead(by reader) {
	if s != nil && s.p != nil {
		for i := range s.p.covers {
			s.p.covers[i].Others = true
		}
		s.by = by
	}
}

// release emits the arrival on the empty mbarrier, after the completion of all operations that
// read the stage.
func (s *Stage) release() {
	p := s.p
	k := p.k
	empty := s.Empty()
	arrivals := 1
	defer func() { k.openStages = k.openStages[:len(k.openStages)-1] }()
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
		s.syncReaders()
		if p.isClusterWide {
			p.commit(empty)
			arrivals = p.remoteArrivals()
		} else {
			k.When(k.Leader(), func() { k.commit(empty, p.pair) })
		}
	case p.isClusterWide && p.remoteArrivals() < k.clusterSize():
		s.waitWgmma()
		s.syncReaders()
		arrivals = k.roleWarps() * p.remoteArrivals()
		lane, order := k.Lane(), s.arrivalOrder()
		near := k.U32(1).Shl(lane).And(p.neighborMask()).NEI(0)
		k.When(near, func() { empty.arriveAt(lane, order) })
	case p.isClusterWide:
		s.waitWgmma()
		s.syncReaders()
		// One lane per block of the cluster arrives on the mbarrier of that block.
		arrivals = k.roleWarps() * k.clusterSize()
		lane, order := k.Lane(), s.arrivalOrder()
		k.When(lane.LTI(int64(k.clusterSize())), func() { empty.arriveAt(lane, order) })
	default:
		s.waitWgmma()
		arrivals = k.roleWarps()
		s.syncReaders()
		k.When(k.Leader(), empty.Arrive)
	}
	p.countArrivals(p.empty, arrivals)
}

// arrivalOrder returns the memory order of the arrivals on mbarriers of other blocks.
func (s *Stage) arrivalOrder() string {
	if s.by == wgmma && !s.addressUsed {
		return ".relaxed" // only wgmma operations read the stage, and they have completed
	}
	return ".release"
}

// syncReaders makes sure that all threads of the warp have read the stage before one of them
// releases it. The next copy overwrites the stage through the async proxy, so no load of the warp
// may still be in flight.
func (s *Stage) syncReaders() {
	switch k := s.p.k; {
	case s.by == threads || s.addressUsed:
		k.FenceAsync()
		k.SyncWarp()
	case s.by == wgmma && !s.converged:
		// the loop with the MMAs may run zero times, and then some lanes may still wait for the
		// stage
		k.SyncWarp()
	}
}

// waitWgmma waits for the wgmma operations that read the stage.
func (s *Stage) waitWgmma() {
	if s.by == wgmma {
		s.p.k.waitStarted()
	}
}
