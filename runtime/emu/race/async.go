// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// An opKey identifies an asynchronous operation by its event and its lane.
type opKey struct {
	serial uint64
	lane   int
}

// An operation is an asynchronous operation in flight.
type operation struct {
	view    // view of its thread when it was issued
	group   emu.Group
	fenced  view    // of its thread at the last tcgen05.fence::after_thread_sync
	proxied [2]view // of its thread at its last proxy fences
	main    uint32  // epoch of its thread when it was issued
	agent   uint32  // of its reads, and of its writes unless they have another
	writes  uint32
	epoch   uint32
	issued  uint32    // serial of its event
	delayed []delayed // accesses of an operation that completes on an mbarrier, until it does
}

// A delayed access is recorded when its operation completes on the mbarrier.
type delayed struct {
	event emu.Event
	at    emu.Address
	lane  int
}

// issue records the operations that threads issue.
func (d *Detector) issue(e *emu.Event) {
	d.reach(e.Instr)
	if e.Group == emu.GroupMatrix {
		t := d.threadOf(e.Block, e.Warp, 0)
		m := d.matrixAgent(e)
		m.issued++
		d.ops[opKey{e.Operation, 0}] = &operation{
			view: d.viewOfIssue(t), group: e.Group, proxied: t.proxied, agent: m.agent,
			writes: m.agent, epoch: m.issued, issued: d.serial,
		}
		d.lanes(e, func(_ int, t *thread) { t.step() })
		return
	}
	d.lanes(e, func(l int, t *thread) {
		o := &operation{view: d.viewOfIssue(t), group: e.Group, fenced: t.fenced,
			proxied: t.proxied, main: t.own[slotMain], issued: d.serial}
		first := t.thread * slots
		switch e.Group {
		case emu.GroupCopy:
			t.issued[slotCopy]++
			o.agent, o.writes, o.epoch = first+slotCopy, first+slotCopy, t.issued[slotCopy]
		case emu.GroupTensor:
			m := d.tensor[t.thread]
			if m == nil {
				m = d.newTensorAgent()
				d.tensor[t.thread] = m
			}
			m.issued++
			o.agent, o.writes, o.epoch = m.agent, m.agent, m.issued
		case emu.GroupTensorLoad, emu.GroupTensorStore:
			m := d.movesOf(e, e.Group)
			m.issued++
			o.agent, o.writes, o.epoch = m.agent, m.agent, m.issued
		case emu.GroupBulk:
			t.issued[slotBulkWrites]++
			o.agent, o.writes, o.epoch = first+slotBulkReads, first+slotBulkWrites,
				t.issued[slotBulkWrites]
		}
		d.ops[opKey{e.Operation, l}] = o
		t.step()
	})
}

// viewOfIssue returns the initial view of an operation that a thread issues. The operations whose
// completion a relaxed arrival announced happen before it: relaxed arrivals do not order accesses
// of threads, but they suffice to pass a buffer from one asynchronous operation to the next.
func (d *Detector) viewOfIssue(t *thread) view {
	v := t.view
	v.base = d.join(v.base, t.handed)
	return v
}

// matrixAgent returns the agent of a warp's wgmma operations.
func (d *Detector) matrixAgent(e *emu.Event) *agentCount {
	w := e.Block*uint32(d.perWarp) + e.Warp
	m := d.matrix[w]
	if m == nil {
		m = &agentCount{agent: d.agents}
		d.agents++
		d.matrix[w] = m
	}
	return m
}

// operationAccess handles an access of an asynchronous operation.
func (d *Detector) operationAccess(e *emu.Event) {
	d.lanes(e, func(l int, t *thread) {
		o := d.operation(e, l)
		if o == nil {
			return
		}
		if o.group == emu.NoGroup {
			o.delay(delayed{event: *e, at: e.At[l], lane: l})
			return
		}
		agent := o.agent
		if e.Kind != emu.EventRead {
			agent = o.writes
		}
		d.operationTouch(e, o, agent, o.epoch, e.At[l], l)
	})
}

// delay adds an access to those that are recorded when the operation completes. An access that
// begins where the last one ends becomes a part of it.
func (o *operation) delay(x delayed) {
	if n := len(o.delayed); n > 0 {
		last := &o.delayed[n-1]
		end := last.at
		end.At += last.event.Size
		if end == x.at && last.lane == x.lane && last.event.Kind == x.event.Kind &&
			last.event.Instr == x.event.Instr && last.event.Proxy == x.event.Proxy &&
			last.event.Values == nil && x.event.Values == nil {
			last.event.Size += x.event.Size
			return
		}
	}
	o.delayed = append(o.delayed, x)
}

// operation returns the operation of an event. Tensor-core reads belong to the single lane that
// issued the instruction.
func (d *Detector) operation(e *emu.Event, lane int) *operation {
	if o := d.ops[opKey{e.Operation, lane}]; o != nil || e.Proxy != emu.ProxyAsync {
		return o
	}
	for l := range eval.Lanes {
		if o := d.ops[opKey{e.Operation, l}]; o != nil {
			return o
		}
	}
	return nil
}

// operationTouch compares an access of an operation with earlier accesses, reports races, and
// records the access.
func (d *Detector) operationTouch(e *emu.Event, o *operation, agent, epoch uint32, a emu.Address,
	lane int) {
	y := d.stampOf(e, o.thread, agent, epoch)
	y.at = a.At
	if a.Space == isa.Tensor {
		d.tensorTouch(e, o, y, a)
	} else {
		d.issuer = o
		d.touch(e, &o.view, y, a, e.Size, lane)
		d.issuer = nil
	}
	switch {
	case a.Space == isa.Global:
	case d.blockOf(o.thread) != a.Block:
		d.foreign(e, &o.view, y, a)
	case a.Space == isa.Shared && d.blocks[a.Block].ended && o.group != emu.GroupCopy:
		d.abandonedRace(y, a)
	}
}

// operationSignals joins the view of an operation into the mbarrier on which it completes.
func (d *Detector) operationSignals(e *emu.Event, lane int, m *mbarrier, a emu.Address) {
	o := d.ops[opKey{e.Operation, lane}]
	if o == nil {
		return
	}
	d.useByOperation(e, o, m, a)
	// all earlier operations of the thread
	if o.group == emu.GroupCopy || o.group == emu.GroupTensor {
		k := sumKey{d.blockOf(o.thread), isa.ScopeCTA}
		if o.group == emu.GroupTensor {
			// include operations of the other block of a pair
			k = sumKey{^uint32(0), isa.ScopeCluster}
		}
		s := m.sums[k]
		if s == nil {
			s = &sum{}
			m.sums[k] = s
		}
		s.all.raise(o.agent, o.epoch)
		if o.group == emu.GroupTensor {
			// What the tensor cores read was complete before: the thread had waited on its
			// mbarrier. The arrival does not release accesses of the thread itself.
			s.all.joinFrom(o.base, d.previous)
		}
		return
	}
	for i := range o.delayed {
		x := &o.delayed[i]
		d.operationTouch(&x.event, o, m.agent, m.phase+1, x.at, x.lane)
	}
	o.delayed = o.delayed[:0]
}

// useByOperation checks that the initialization of an mbarrier is visible to an operation.
func (d *Detector) useByOperation(e *emu.Event, o *operation, m *mbarrier, a emu.Address) {
	if o.knows(m.by*slots+slotInit, m.epoch) || (o.group == emu.GroupCopy || storesAsync(e)) &&
		o.knows(m.by*slots+slotMain, m.epoch) {
		return
	}
	d.initRace(e, o.thread, m, a, o.knows(m.by*slots+slotMain, m.epoch))
}

// storesAsync reports whether an event belongs to st.async or red.async, which are asynchronous but
// use the generic proxy.
func storesAsync(e *emu.Event) bool {
	if e.Instr == nil || e.Instr.Form == nil {
		return false
	}
	kind := e.Instr.Form.Form.Kind
	return kind == isa.KindStAsync || kind == isa.KindRedAsync
}

// complete handles the completion of operations.
func (d *Detector) complete(e *emu.Event) {
	d.lanes(e, func(l int, t *thread) {
		k := opKey{e.Operation, l}
		if o := d.ops[k]; o != nil {
			for i := range o.delayed { // it signalled no mbarrier, so nothing can wait for it
				x := &o.delayed[i]
				d.operationTouch(&x.event, o, d.never(), 1, x.at, x.lane)
			}
			delete(d.ops, k)
		}
	})
}

// never returns the agent of operations for which no wait is possible.
func (d *Detector) never() uint32 { return ^uint32(0) - 1 }

// groupsOf returns the committed groups of a thread, and the operations that it issued.
func (t *thread) groupsOf(g emu.Group) (groups *[]uint32, issued uint32) {
	if g == emu.GroupCopy {
		return &t.groups[0], t.issued[slotCopy]
	}
	return &t.groups[1], t.issued[slotBulkWrites]
}

// commit commits groups of threads.
func (d *Detector) commit(e *emu.Event) {
	switch e.Group {
	case emu.GroupMatrix:
		m := d.matrixAgent(e)
		m.groups = append(m.groups, m.issued)
	case emu.GroupCopy, emu.GroupBulk:
		d.lanes(e, func(_ int, t *thread) {
			list, n := t.groupsOf(e.Group)
			*list = append(*list, n)
		})
	}
}

// covered returns the number of operations that are complete when all groups but the last n are
// complete.
func covered(groups []uint32, n int64) uint32 {
	if i := int64(len(groups)) - n; i > 0 {
		return groups[i-1]
	}
	return 0
}

// wait makes operations that are complete after a wait for groups happen before later events of the
// waiting threads.
func (d *Detector) wait(e *emu.Event) {
	if e.Group == emu.GroupMatrix {
		m := d.matrixAgent(e)
		x := covered(m.groups, e.Count)
		c := only(m.agent, x)
		d.lanes(e, func(_ int, t *thread) { d.learn(t, c) })
		m.groups = slices.Clip(m.groups)
		return
	}
	if e.Group == emu.GroupTensorLoad || e.Group == emu.GroupTensorStore {
		m := d.movesOf(e, e.Group)
		c := only(m.agent, m.issued)
		d.lanes(e, func(_ int, t *thread) { d.learn(t, c) })
		return
	}
	d.lanes(e, func(_ int, t *thread) {
		list, issued := t.groupsOf(e.Group)
		x := issued
		if e.Count >= 0 {
			x = covered(*list, e.Count)
		}
		first := uint32(slotCopy)
		switch {
		case e.Group == emu.GroupBulk && e.Reads:
			first = slotBulkReads
		case e.Group == emu.GroupBulk:
			t.own[slotBulkReads] = max(t.own[slotBulkReads], x)
			first = slotBulkWrites
		}
		t.own[first] = max(t.own[first], x)
	})
}
