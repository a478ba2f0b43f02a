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
		a.left = true
		m.leave()
		return true
	}
	if m.waits(a) {
		return false
	}
	e := &a.now
	*e = *whole(a)
	a.active[a.warp/2] = a.lanes()
	e.Threads = &a.active
	if !m.converged(a, e) {
		return false
	}
	switch e.Kind {
	case trace.BarrierSync, trace.BarrierArrive, trace.ClusterWait, trace.ClusterArrive,
		trace.WarpSync:
		return m.meet(a, e)
	case trace.Wait:
		if !m.wait(a, e) {
			return false
		}
	case trace.Exit:
		a.left = true
		m.leave()
		return true
	default:
		m.do(a, e)
	}
	a.at++
	a.clock.agents[a.id] = a.at
	return true
}

// lanes returns the threads of an agent that execute its next event, as a word of their set.
func (a *agent) lanes() uint64 { return whole(a).Threads[a.warp/2] & a.threads[a.warp/2] }

// skip moves an agent past idle events, and past those of other threads. It reports whether there
// were any.
func (m *machine) skip(a *agent) (moved bool) {
	from := a.at
	for a.at < len(a.t.Events) && *m.work <= m.most {
		if a.lanes() != 0 {
			if !a.idle[a.at] {
				break
			}
			a.clock.agents[a.id] = a.at + 1
		}
		if a.at++; a.at > from+1 {
			*m.work += perMove // run adds that of one event
		}
	}
	return a.at > from
}

// waits reports whether an agent still waits at an event that it reached before. Most steps are
// such, and this check does not need the event.
func (m *machine) waits(a *agent) bool {
	if a.awaits.at == a.at+1 && a.awaits.made == m.changed {
		return a.awaits.pends()
	}
	return whole(a).Kind == trace.ClusterWait && a.clock.agents[a.id] == a.at+1 &&
		m.cluster.phases < a.phase
}

// pends reports whether one of the phases is not complete.
func (w *awaitedMbarriers) pends() bool {
	for i := range w.list {
		if o := w.list[i].o; w.parity >= 0 && int64(o.phases&1) == w.parity {
			return true
		}
	}
	return false
}

// wait completes if the phase with its parity is complete.
func (m *machine) wait(a *agent, e *trace.Event) bool {
	list := a.awaits.list
	if a.awaits.at != a.at+1 || a.awaits.made != m.changed {
		holds, known := a.t.Facts.Decided(e.Done, *e.Threads)
		if !known || !holds {
			return true // a try that failed, or whose result is unused
		}
		list = append(list[:0], m.touched(a, e)...)
		a.awaits = awaitedMbarriers{a.at + 1, m.changed, list, -1}
		if parity, known := verify.Number(e, verify.Address(e.In, 0)+1); known &&
			verify.Parity(e.In) {
			a.awaits.parity = parity & 1
		}
	}
	for _, at := range list {
		if m.pends(a, e, at.o) {
			return false
		}
	}
	for _, at := range list {
		seen := a.passed[at.o]
		if seen == nil {
			seen = &waitHistory{}
			if a.passed == nil {
				a.passed = make(map[*object]*waitHistory)
			}
			a.passed[at.o] = seen
		}
		phase := min(m.learns(a, e, at.o), at.o.phases-1)
		seen.stale = nil
		if seen.waits > 0 && phase == seen.phase {
			seen.stale = whole(a)
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

// learns returns the phase that a completed wait shows to be complete, in any interleaving. It is
// the first phase with the parity of the wait that is not already known to be complete. Later
// phases may be complete too, but the agent cannot know that.
func (m *machine) learns(a *agent, e *trace.Event, o *object) int {
	n := verify.Address(e.In, 0) + 1
	if !verify.Parity(e.In) {
		if phase, known := a.tokens[verify.Val(e, n)]; known {
			return phase
		}
		return o.phases - 1
	}
	phase := a.clock.last(o)
	if parity, known := verify.Number(e, n); known && int64(phase&1) != parity&1 {
		phase++
	}
	return phase
}

// pends reports whether the phase that a wait is for is incomplete: the phase of its parity, or of
// the arrival whose state it uses.
func (m *machine) pends(a *agent, e *trace.Event, o *object) bool {
	n := verify.Address(e.In, 0) + 1
	if !verify.Parity(e.In) {
		phase, known := a.tokens[verify.Val(e, n)]
		return known && o.phases <= phase
	}
	parity, known := verify.Number(e, n)
	return known && int64(o.phases&1) == parity&1
}

// whole returns the current event of an agent as executed by all threads of its trace. Records of
// an event refer to this copy.
func whole(a *agent) *trace.Event { return &a.t.Events[a.at] }

// do executes events that do not wait.
func (m *machine) do(a *agent, e *trace.Event) {
	switch e.Kind {
	case trace.Init:
		n, _ := verify.Number(e, verify.Address(e.In, 0)+1)
		list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
		for _, at := range list {
			s := mbarrierPlace{a.block, at.Object}
			m.object(s, object{count: n, pending: n, init: whole(a), unit: m.shares[s]})
		}
	case trace.Inval:
		list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
		for _, at := range list {
			delete(m.objects, mbarrierPlace{a.block, at.Object})
			m.changed++
		}
	case trace.Arrive, trace.Expect:
		m.arrival(a, e)
	case trace.BulkLoad, trace.RemoteStore, trace.Answer:
		m.load(a, e)
	case trace.CopyArrive:
		m.copied(a, e)
	case trace.Complete:
		n, _ := verify.Number(e, verify.Address(e.In, 0)+1)
		for _, at := range m.touched(a, e) {
			at.o.tx -= n * at.threads * at.o.scale()
			at.o.flipIfBegun()
		}
	case trace.TensorMultiply, trace.TensorCopy, trace.TensorShift:
		op := m.new(a, e)
		a.copies = append(a.copies, op)
		m.reads(a, e, op.id)
		m.columns(a, e, op.id, true)
	case trace.TensorCommit:
		m.commit(a, e)
	case trace.ProxyFence:
		m.fenced(a, e)
	case trace.Fence:
		m.fence(a)
	case trace.TensorLoad, trace.TensorStore, trace.TensorFree:
		m.columns(a, e, 0, e.Kind != trace.TensorLoad)
	case trace.GroupMultiply:
		op := m.new(a, e)
		a.wgmma = append(a.wgmma, op)
		m.reads(a, e, op.id)
	case trace.BulkStore:
		op := m.new(a, e)
		a.bulk = append(a.bulk, op)
		m.reads(a, e, op.id)
	case trace.GroupCommit:
		closeGroups(a.wgmma)
	case trace.BulkCommit:
		closeGroups(a.bulk)
	case trace.GroupWait:
		n, _ := verify.Number(e, 0)
		a.wgmma = a.finish(a.wgmma, int(n))
	case trace.BulkWait:
		n, _ := verify.Number(e, 0)
		a.bulk = a.finish(a.bulk, int(n))
	case trace.Load, trace.Store, trace.Atomic, trace.Clear:
		m.placed(e)
		if r, ok := m.p.Access(e); ok && r.Shared() {
			m.note(&access{e: e, by: a, when: a.at + 1, write: e.Kind != trace.Load, block: a.block,
				region: r})
			m.mark(a, e, r)
		} else if block, ok := m.away(a, e); ok {
			if r, ok := m.p.Peer(e, memory.Bytes(e.In)); ok {
				m.note(&access{e: e, by: a, when: a.at + 1, write: e.Kind != trace.Load,
					block: block, region: r})
			}
		}
	case trace.Copy:
		m.regions = m.p.AppendWrites(m.regions[:0], e)
		for _, r := range m.regions {
			m.note(&access{e: e, by: a, when: a.at + 1, write: true, block: a.block, region: r})
		}
	}
}

// placed records that a shared-memory access has a data-dependent address. Its races are not
// checked, so a missing barrier would not be detected (B8).
func (m *machine) placed(e *trace.Event) {
	at := verify.Val(e, verify.Address(e.In, 0))
	switch {
	case !m.plain, verify.Rank(at) != nil: // of another block
		return
	case !e.In.NamesShared() && (!m.p.Generic || elsewhere(e.In, at)):
		return
	}
	if r, ok := m.p.Access(e); !ok || !r.Sure {
		m.p.Missed("shared-memory accesses at data-dependent addresses (B8)")
	}
}

// elsewhere reports whether a generic access is certainly not to shared memory: by its opcode, or
// because its address is derived from a parameter, from global memory, or from a variable that is
// not shared.
func elsewhere(in *ir.Instr, at *value.Value) bool {
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

// finish completes the operations of all but the last n groups.
func (a *agent) finish(list []*operation, n int) []*operation {
	return slices.DeleteFunc(list, func(op *operation) bool {
		over := op.groups > n
		if over {
			a.clock.ended(op.id)
		}
		return over
	})
}

// load executes a copy into shared memory that completes on an mbarrier.
func (m *machine) load(a *agent, e *trace.Event) {
	op := m.new(a, e)
	if e.Kind == trace.BulkLoad {
		m.loads = append(m.loads, op)
	}
	m.regions = m.p.AppendWrites(m.regions[:0], e)
	for _, r := range m.regions {
		list := m.cast(a.block, e)
		if block, ok := m.away(a, e); ok {
			m.some = append(m.some[:0], block)
			list = m.some
		}
		for _, block := range list {
			m.note(m.wide(&access{e: e, by: a, when: a.at + 1, operation: op.id, write: true,
				block: block, region: r}))
		}
	}
	m.reads(a, e, op.id)
	bytes, known := m.delivers(e) // if all blocks do the same, as many bytes arrive here
	for _, at := range m.touched(a, e) {
		o := at.o
		n := bytes * at.threads * o.scale()
		if !known {
			n = o.unit.unit * at.threads
		}
		if verify.Multicast(e.In) && o.unit.unit == 0 && m.p.Ranks < 2 {
			n *= int64(max(1, m.p.Cluster))
		}
		phases := slices.Clone(a.clock.phases)
		m.due = append(m.due, &completion{run: func() {
			o.tx -= n
			// A copy makes its own writes visible, but not the earlier writes of its issuer. It
			// also shows what had completed when it started.
			end := m.clock()
			end.phases = phases
			end.ended(op.id)
			o.gather(end)
			o.flipIfBegun()
		}})
	}
}

// copied executes an arrival that happens when the earlier copies of its thread have completed.
// Without .noinc the pending count is first incremented by the number of later arrivals, so that
// the phase needs no more arrivals than before.
func (m *machine) copied(a *agent, e *trace.Event) {
	a.clock.agents[a.id] = a.at + 1
	know, from := a.clock.clone(), whole(a)
	for _, at := range m.touched(a, e) {
		arrive := func() { m.arrive(a, at.o, at.threads, know, from) }
		if n, _ := verify.Arrivals(e); n == 0 {
			at.o.pending += at.threads
			arrive = func() { at.o.arrive(at.threads, know, from) }
		}
		m.due = append(m.due, &completion{run: arrive})
	}
}
