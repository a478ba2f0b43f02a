// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// step makes an agent execute its next event. It returns false if the agent must wait.
func (m *machine) step(a *agent) bool {
	if a.waiting {
		return false
	}
	if m.skip(a) {
		return true
	}
	if a.at >= len(a.t.Events) {
		a.exited = true
		m.completeAfterExit()
		return true
	}
	if m.isWaiting(a) {
		return false
	}
	e := &a.current
	*e = *currentEvent(a)
	a.active[a.warp/2] = a.lanes()
	e.Threads = &a.active
	if !m.hasConverged(a, e) {
		return false
	}
	switch e.Kind {
	case trace.BarrierSync, trace.BarrierArrive, trace.ClusterWait, trace.ClusterArrive,
		trace.WarpSync:
		return m.executeBarrier(a, e)
	case trace.Wait:
		if !m.executeWait(a, e) {
			return false
		}
	case trace.Exit:
		a.exited = true
		m.completeAfterExit()
		return true
	default:
		m.execute(a, e)
	}
	a.at++
	a.clock.agents[a.id] = a.at
	return true
}

// lanes returns the threads of an agent that execute its next event, as a word of their set.
func (a *agent) lanes() uint64 { return currentEvent(a).Threads[a.warp/2] & a.threads[a.warp/2] }

// skip moves an agent past idle events and events of other threads. It reports whether there were
// any.
func (m *machine) skip(a *agent) (moved bool) {
	from := a.at
	for a.at < len(a.t.Events) && *m.work <= m.maxWork {
		if a.lanes() != 0 {
			if !a.idle[a.at] {
				break
			}
			a.clock.agents[a.id] = a.at + 1
		}
		if a.at++; a.at > from+1 {
			*m.work += workPerEvent // run adds the work of one event
		}
	}
	return a.at > from
}

// isWaiting reports whether an agent still waits at an event that it reached before. Most steps
// end here, and this check does not need the event itself.
func (m *machine) isWaiting(a *agent) bool {
	if a.awaits.at == a.at+1 && a.awaits.changes == m.changed {
		return a.awaits.isPending()
	}
	return currentEvent(a).Kind == trace.ClusterWait && a.clock.agents[a.id] == a.at+1 &&
		m.cluster.phases < a.phase
}

// isPending reports whether some awaited phase is not complete.
func (w *awaitedMbarriers) isPending() bool {
	for i := range w.list {
		if o := w.list[i].o; w.parity >= 0 && int64(o.phases&1) == w.parity {
			return true
		}
	}
	return false
}

// executeWait executes an mbarrier wait. It returns false if the phase with the wait's parity is
// not complete.
func (m *machine) executeWait(a *agent, e *trace.Event) bool {
	list := a.awaits.list
	if a.awaits.at != a.at+1 || a.awaits.changes != m.changed {
		holds, known := a.t.Facts.Decided(e.Done, *e.Threads)
		if !known || !holds {
			return true // the try failed, or its result is not used
		}
		list = append(list[:0], m.targets(a, e)...)
		a.awaits = awaitedMbarriers{a.at + 1, m.changed, list, -1}
		if parity, known := verify.Number(e, verify.Address(e.In, 0)+1); known &&
			verify.Parity(e.In) {
			a.awaits.parity = parity & 1
		}
	}
	for _, at := range list {
		if m.isPhasePending(a, e, at.o) {
			return false
		}
	}
	for _, at := range list {
		seen := a.passed[at.o]
		if seen == nil {
			seen = &waitHistory{}
			if a.passed == nil {
				a.passed = make(map[*mbarrier]*waitHistory)
			}
			a.passed[at.o] = seen
		}
		phase := min(m.completedPhase(a, e, at.o), at.o.phases-1)
		seen.stale = nil
		if seen.waits > 0 && phase == seen.phase {
			seen.stale = currentEvent(a)
		}
		seen.waits++
		seen.phase = phase
		if phase >= 0 {
			a.clock.join(at.o.released[phase])
			m.joins++
		}
	}
	return true
}

// completedPhase returns the phase that is complete in every interleaving in which the wait
// completes. It is the first phase with the parity of the wait that is not already certain to be
// complete. Later phases may be complete too, but this is not certain.
func (m *machine) completedPhase(a *agent, e *trace.Event, o *mbarrier) int {
	n := verify.Address(e.In, 0) + 1
	if !verify.Parity(e.In) {
		if phase, known := a.tokens[verify.Val(e, n)]; known {
			return phase
		}
		return o.phases - 1
	}
	phase := a.clock.lastPhase(o)
	if parity, known := verify.Number(e, n); known && int64(phase&1) != parity&1 {
		phase++
	}
	return phase
}

// isPhasePending reports whether the phase for which a wait waits is incomplete. The phase is
// given by the parity, or by the state that an arrival returned.
func (m *machine) isPhasePending(a *agent, e *trace.Event, o *mbarrier) bool {
	n := verify.Address(e.In, 0) + 1
	if !verify.Parity(e.In) {
		phase, known := a.tokens[verify.Val(e, n)]
		return known && o.phases <= phase
	}
	parity, known := verify.Number(e, n)
	return known && int64(o.phases&1) == parity&1
}

// currentEvent returns the current event of an agent, with all threads of its trace. Records of
// the event refer to this value.
func currentEvent(a *agent) *trace.Event { return &a.t.Events[a.at] }

// execute executes an event that does not wait.
func (m *machine) execute(a *agent, e *trace.Event) {
	switch e.Kind {
	case trace.Init:
		n, _ := verify.Number(e, verify.Address(e.In, 0)+1)
		list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
		for _, at := range list {
			s := mbarrierPlace{a.block, at.Object}
			m.newMbarrier(s,
				mbarrier{count: n, pending: n, init: currentEvent(a), copyShare: m.copyShares[s]})
		}
	case trace.Inval:
		list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
		for _, at := range list {
			delete(m.mbarriers, mbarrierPlace{a.block, at.Object})
			m.changed++
		}
	case trace.Arrive, trace.Expect:
		m.executeArrival(a, e)
	case trace.BulkLoad, trace.RemoteStore, trace.Answer:
		m.executeLoad(a, e)
	case trace.CopyArrive:
		m.executeCopyArrive(a, e)
	case trace.Complete:
		n, _ := verify.Number(e, verify.Address(e.In, 0)+1)
		for _, at := range m.targets(a, e) {
			at.o.tx -= n * at.threads * at.o.scale()
			at.o.completeBytes()
		}
	case trace.TensorMultiply, trace.TensorCopy, trace.TensorShift:
		op := m.newOperation(a, e)
		a.copies = append(a.copies, op)
		m.recordReads(a, e, op.id)
		m.recordColumns(a, e, op.id, true)
	case trace.TensorCommit:
		m.executeCommit(a, e)
	case trace.ProxyFence:
		m.recordProxyFence(a, e)
	case trace.Fence:
		m.fence(a)
	case trace.TensorLoad, trace.TensorStore, trace.TensorFree:
		m.recordColumns(a, e, 0, e.Kind != trace.TensorLoad)
	case trace.GroupMultiply:
		op := m.newOperation(a, e)
		a.wgmma = append(a.wgmma, op)
		m.recordReads(a, e, op.id)
	case trace.BulkStore:
		op := m.newOperation(a, e)
		a.bulk = append(a.bulk, op)
		m.recordReads(a, e, op.id)
	case trace.GroupCommit:
		closeGroups(a.wgmma)
	case trace.BulkCommit:
		closeGroups(a.bulk)
	case trace.GroupWait:
		n, _ := verify.Number(e, 0)
		a.wgmma = a.completeGroups(a.wgmma, int(n))
	case trace.BulkWait:
		n, _ := verify.Number(e, 0)
		a.bulk = a.completeGroups(a.bulk, int(n))
	case trace.Load, trace.Store, trace.Atomic, trace.Clear:
		m.checkAddress(e)
		if r, ok := m.p.Access(e); ok && r.Shared() {
			m.recordAccess(&access{e: e, by: a, when: a.at + 1, write: e.Kind != trace.Load,
				block:  a.block,
				region: r})
			m.recordFlag(a, e, r)
		} else if block, ok := m.addressedBlock(a, e); ok {
			if r, ok := m.p.Peer(e, memory.Bytes(e.In)); ok {
				m.recordAccess(&access{e: e, by: a, when: a.at + 1, write: e.Kind != trace.Load,
					block: block, region: r})
			}
		}
	case trace.Copy:
		m.regions = m.p.AppendWrites(m.regions[:0], e)
		for _, r := range m.regions {
			m.recordAccess(&access{e: e, by: a, when: a.at + 1, write: true, block: a.block,
				region: r})
		}
	}
}

// missedAddresses is reported for accesses that cannot be compared with others: a missing barrier
// between them would not be detected (B8).
const missedAddresses = "shared-memory accesses at data-dependent addresses (B8)"

// checkAddress makes the verdict incomplete if a shared-memory access has a data-dependent
// address without bounds. With bounds it is compared with other accesses: only if it is not
// ordered with one that it may overlap, reportIfUnordered makes the verdict incomplete.
func (m *machine) checkAddress(e *trace.Event) {
	at := verify.Val(e, verify.Address(e.In, 0))
	switch {
	case !m.comparesPlain, verify.Rank(at) != nil: // of another block
		return
	case !e.In.NamesShared() && (!m.p.Generic || isNotShared(e.In, at)):
		return
	}
	if r, ok := m.p.Access(e); !ok || !r.Shared() {
		m.p.Missed(missedAddresses)
	}
}

// isNotShared reports whether a generic access is certainly not to shared memory: its opcode
// names global memory, or its address is derived from a parameter, from global memory, or from a
// variable in another space.
func isNotShared(in *ir.Instr, at *value.Value) bool {
	if in.HasMod(isa.ModGlobal) || at == nil {
		return in.HasMod(isa.ModGlobal)
	}
	begins := false
	for _, t := range at.Terms {
		switch a := t.Atom; {
		case a.Op == value.OpVariable:
			v, ok := a.Ref.(*ir.Var)
			return ok && v.Space != isa.Shared
		case t.Factor == 1 && (a.Op == value.OpParameter || a.ReadsGlobal()):
			begins = true
		}
	}
	return begins
}

// completeGroups removes the operations of all but the last n groups from list and records that
// they have completed.
func (a *agent) completeGroups(list []*operation, n int) []*operation {
	return slices.DeleteFunc(list, func(op *operation) bool {
		over := op.groups > n
		if over {
			a.clock.addCompleted(op.id)
		}
		return over
	})
}

// executeLoad starts a copy into shared memory that completes on an mbarrier.
func (m *machine) executeLoad(a *agent, e *trace.Event) {
	op := m.newOperation(a, e)
	if e.Kind == trace.BulkLoad {
		m.loads = append(m.loads, op)
	}
	m.regions = m.p.AppendWrites(m.regions[:0], e)
	for _, r := range m.regions {
		list := m.destinationBlocks(a.block, e)
		if block, ok := m.addressedBlock(a, e); ok {
			m.blockList = append(m.blockList[:0], block)
			list = m.blockList
		}
		for _, block := range list {
			m.recordAccess(
				m.widen(&access{e: e, by: a, when: a.at + 1, operation: op.id, write: true,
					block: block, region: r}))
		}
	}
	m.recordReads(a, e, op.id)
	bytes, known := m.transferredBytes(e) // if all blocks do the same, as many bytes arrive here
	for _, at := range m.targets(a, e) {
		o := at.o
		n := bytes * at.threads * o.scale()
		if !known {
			n = o.copyShare.bytes * at.threads
		}
		if verify.Multicast(e.In) && o.copyShare.bytes == 0 && m.p.Ranks < 2 {
			n *= int64(max(1, m.p.Cluster))
		}
		phases := slices.Clone(a.clock.phases)
		m.due = append(m.due, &completion{run: func() {
			o.tx -= n
			// A copy makes its own writes visible, but not the earlier writes of the issuing
			// thread. It also makes visible which operations had completed when it started.
			end := m.newClock()
			end.phases = phases
			end.addCompleted(op.id)
			o.joinClock(end)
			o.completeBytes()
		}})
	}
}

// executeCopyArrive executes an arrival that happens when the earlier copies of its thread have
// completed. Without .noinc, the pending count is first incremented by the number of these
// arrivals, so that the phase needs no more arrivals than before.
func (m *machine) executeCopyArrive(a *agent, e *trace.Event) {
	a.clock.agents[a.id] = a.at + 1
	know, from := a.clock.clone(), currentEvent(a)
	for _, at := range m.targets(a, e) {
		arrive := func() { m.arrive(a, at.o, at.threads, know, from) }
		if n, _ := verify.Arrivals(e); n == 0 {
			at.o.pending += at.threads
			arrive = func() { at.o.arrive(at.threads, know, from) }
		}
		m.due = append(m.due, &completion{run: arrive})
	}
}
