// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// lanes calls f for each thread in the mask of an event.
func (d *Detector) lanes(e *emu.Event, f func(lane int, t *thread)) {
	for m := e.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		f(l, d.threadOf(e.Block, e.Warp, l))
	}
}

// step starts the next epoch of a thread. Its later accesses are not covered by what it has
// released.
func (t *thread) step() {
	t.own[slotMain]++
	if t.own[slotMain] == 0 {
		panic("bug: the epoch of a thread overflows")
	}
}

// arrive joins the views of the arriving threads into their barrier.
func (d *Detector) arrive(e *emu.Event) {
	d.incomplete(e)
	b := d.barrier(e.Block, e.Number)
	t := d.threadOf(e.Block, e.Warp, bits.TrailingZeros32(e.Mask))
	b.last = d.stampOf(e, t.thread, t.thread*slots, t.own[slotMain])
	b.count += count(e.Mask)
	b.counted = e.Count != 0
	d.lanes(e, func(_ int, t *thread) {
		t.last, t.met = b.last.site+1, t.met || !b.counted
		b.arrived.add(&t.view)
		t.step()
	})
}

// leave joins the views of all threads that arrived at a barrier into the threads that leave it.
func (d *Detector) leave(e *emu.Event, s *sum) {
	d.lanes(e, func(_ int, t *thread) { d.learn(t, s.all) })
}

// clusterArrive joins threads into the barrier of a cluster. A relaxed arrival releases only what
// an earlier fence released.
func (d *Detector) clusterArrive(e *emu.Event) {
	d.incomplete(e)
	b := d.clusterOf(e.Block)
	d.lanes(e, func(_ int, t *thread) {
		if e.Order != isa.Relaxed {
			b.arrived.add(&t.view)
		} else {
			if t.scope >= isa.ScopeCluster {
				b.arrived.add(&t.released)
			}
			b.arrived.all.raise(t.thread*slots+slotInit, t.own[slotInit])
		}
		t.step()
	})
}

// warpSync orders the lanes of a warp.
func (d *Detector) warpSync(e *emu.Event) {
	if e.Mask&(e.Mask-1) == 0 {
		return
	}
	var s sum
	d.lanes(e, func(_ int, t *thread) { s.add(&t.view) })
	d.lanes(e, func(_ int, t *thread) {
		d.learn(t, s.all)
		t.step()
	})
}

// dependents makes earlier launches happen before later events of the threads that executed
// griddepcontrol.wait.
func (d *Detector) dependents(e *emu.Event) {
	if !has(e, isa.ModWait) {
		return
	}
	d.lanes(e, func(_ int, t *thread) {
		var c clock
		c.raise(d.previous, epochOf(d.oldest))
		d.learn(t, c)
		d.waited = true
	})
}

// A mbarrier is an mbarrier in shared memory.
type mbarrier struct {
	agent uint32 // agent of the operations that complete on it
	phase uint32 // number of completed phases
	by    uint32 // thread that initialized it
	epoch uint32 // epoch of the initialization
	site  stamp
	sums  map[sumKey]*sum // views of the arrivals in the current phase
	done  []doneClock

	waits map[uint32]passage // last wait of each thread

	// completed operations that relaxed arrivals of this phase and of earlier phases announced
	handing, handed clock
}

// A passage records the last wait of a thread that completed.
type passage struct {
	phase uint32 // completed phases
	again bool   // the thread had waited for this phase before
	instr *ir.Instr
}

// pass records that a wait on an mbarrier completed.
func (d *Detector) pass(e *emu.Event, t *thread, m *mbarrier) {
	before, known := m.waits[t.thread]
	p := passage{m.phase, known && before.phase == m.phase, e.Instr}
	m.waits[t.thread] = p
	t.untrue = nil
	switch {
	case p.again:
		t.repeated = e.Instr
	case t.repeated == e.Instr:
		t.repeated = nil
	}
}

type sumKey struct {
	block uint32
	scope isa.Scope
}

// mbarrier handles an event at an mbarrier.
func (d *Detector) mbarrier(e *emu.Event) {
	d.reach(e.Instr)
	d.lanes(e, func(l int, t *thread) {
		a := e.At[l]
		k := key{a.Space, a.Block, a.At}
		m := d.barriers[k]
		if e.Kind == emu.EventInit {
			s := d.stampOf(e, t.thread, t.thread*slots, t.own[slotMain])
			m = &mbarrier{agent: d.agents, by: t.thread, epoch: t.own[slotMain], site: s,
				sums: map[sumKey]*sum{}, waits: map[uint32]passage{}}
			d.completing[m.agent] = m
			d.agents++
			d.barriers[k] = m
			s.at = a.At
			d.touch(e, &t.view, s, a, e.Size, l)
			t.step()
			return
		}
		if m == nil {
			return
		}
		switch e.Kind {
		case emu.EventInval:
			if e.Bytes > 0 {
				y := d.stampOf(e, t.thread, t.thread*slots, t.own[slotMain])
				d.report(invalidRace(), &m.site, &y, a)
			}
			delete(d.barriers, k)
			d.shadow.each(a.Space, a.Block, a.At, e.Size, func(c *cell, _ uint64) {
				c.writes = nil
			})
		case emu.EventPhase:
			m.complete()
		case emu.EventSignal:
			if e.Operation != 0 {
				d.operationSignals(e, l, m, a)
				return
			}
			d.use(e, t, m, a)
			d.signal(e, t, m)
		case emu.EventTest:
			d.use(e, t, m, a)
			d.pass(e, t, m)
			d.test(e, t, m)
		}
	})
}

// use checks that the initialization of an mbarrier happens before its use by a thread, and reports
// a race if not.
func (d *Detector) use(e *emu.Event, t *thread, m *mbarrier, a emu.Address) {
	d.remote(e, t, a, slotMain)
	if t.knows(m.by*slots+slotMain, m.epoch) || t.knows(m.by*slots+slotInit, m.epoch) {
		return
	}
	d.initRace(e, t.thread, m, a, false)
}

// A doneClock is what waits for the completed phases of an mbarrier acquire, by the source of the
// arrivals.
type doneClock struct {
	sumKey
	clock
}

// doneClock returns a pointer to the clock of a source of arrivals. The clocks are sorted by
// source, so that all threads join them in the same order and share the results.
func (m *mbarrier) doneClock(k sumKey) *clock {
	i, found := slices.BinarySearchFunc(m.done, k, func(x doneClock, k sumKey) int {
		return cmp.Or(cmp.Compare(x.block, k.block), cmp.Compare(x.scope, k.scope))
	})
	if !found {
		m.done = slices.Insert(m.done, i, doneClock{sumKey: k})
	}
	return &m.done[i].clock
}

// complete ends the phase of an mbarrier. Threads that wait for this phase acquire the views of its
// arrivals.
func (m *mbarrier) complete() {
	m.phase++
	for k, s := range m.sums {
		var c clock
		done := m.doneClock(k)
		c.join(*done)
		c.join(s.all)
		*done = c
	}
	clear(m.sums)
	if len(m.handing) > 0 {
		var c clock
		c.join(m.handed)
		c.join(m.handing)
		m.handed, m.handing = c, nil
	}
	// Completed operations are visible to all threads that wait.
	k := sumKey{^uint32(0), isa.ScopeCluster}
	var c clock
	done := m.doneClock(k)
	c.join(*done)
	c.raise(m.agent, m.phase)
	*done = c
}

// signal joins the view of a thread that arrives on an mbarrier into the current phase.
func (d *Detector) signal(e *emu.Event, t *thread, m *mbarrier) {
	if e.Instr == nil || e.Instr.Form == nil {
		return
	}
	switch e.Instr.Kind() {
	case isa.KindMbarrierExpectTx, isa.KindMbarrierCompleteTx, isa.KindCpAsyncMbarrierArrive:
		return
	}
	k := sumKey{d.blockOf(t.thread), e.Scope}
	if e.Scope == isa.NoScope {
		k.scope = isa.ScopeCTA
	}
	s := m.sums[k]
	if s == nil {
		s = &sum{}
		m.sums[k] = s
	}
	if e.Order != isa.Relaxed {
		s.add(&t.view)
	} else if t.scope != isa.NoScope {
		s.add(&t.released)
	}
	if e.Order == isa.Relaxed {
		m.handing.joinFrom(t.base, d.previous+1)
		m.handing.join(t.handed)
	}
	if e.Order == isa.Relaxed || d.blockOf(m.by) != k.block {
		d.handOver(t, m)
	}
	t.step()
}

// handOver publishes the tcgen05 operations that are ordered before an arrival of a thread. A
// tcgen05.fence::before_thread_sync orders them before any arrival, even a relaxed one, and with
// any scope.
func (d *Detector) handOver(t *thread, m *mbarrier) {
	if len(d.tensorAgents) == 0 {
		return
	}
	k := sumKey{^uint32(0), isa.ScopeCluster}
	s := m.sums[k]
	if s == nil {
		s = &sum{}
		m.sums[k] = s
	}
	for _, agent := range d.tensorAgents {
		s.all.raise(agent, t.base.at(agent))
	}
	for i, p := range t.base[:min(len(t.base), len(d.threads)/eval.Lanes)] {
		if p == nil {
			continue
		}
		for k := slotTensor; k < partSize; k += slots {
			s.all.raise(uint32(i*partSize+k), p.x[k])
		}
	}
	s.all.raise(t.thread*slots+slotTensor, t.own[slotTensor])
}

// test handles a wait of a thread that succeeded.
func (d *Detector) test(e *emu.Event, t *thread, m *mbarrier) {
	scope := e.Scope
	if scope == isa.NoScope {
		scope = isa.ScopeCTA
	}
	mine := d.blockOf(t.thread)
	if len(m.handed) > 0 {
		t.handed = d.join(t.handed, m.handed)
	}
	for i := range m.done {
		k, c := m.done[i].sumKey, m.done[i].clock
		from := k.block
		if from == ^uint32(0) {
			from = mine
		}
		if !d.reaches(min(scope, k.scope), mine, from) {
			t.narrow = append(t.narrow[:min(len(t.narrow), 3)], from)
			continue
		}
		if e.Order == isa.Relaxed {
			t.pending = append(t.pending, release{all: c, block: from, scope: k.scope})
			continue
		}
		d.learn(t, c)
	}
}
