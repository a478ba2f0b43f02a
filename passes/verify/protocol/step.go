// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// step makes an agent do its next event. False says that it must wait.
func (m *machine) step(a *agent) bool {
	if a.at >= len(a.t.Events) {
		a.left = true
		m.leave()
		return true
	}
	all := whole(a)
	e := *all
	e.Threads = e.Threads.And(a.threads)
	if e.Threads.Empty() {
		a.at++
		return true
	}
	switch e.Kind {
	case trace.BarrierSync, trace.BarrierArrive, trace.ClusterWait, trace.ClusterArrive, trace.WarpSync:
		return m.meet(a, &e, all)
	case trace.Wait:
		if !m.wait(a, &e) {
			return false
		}
	case trace.Exit:
		a.left = true
		m.leave()
		return true
	default:
		m.do(a, &e)
	}
	a.at++
	a.clock.agents[a.id] = a.at
	return true
}

// wait passes when the phase of the parity is complete.
func (m *machine) wait(a *agent, e *trace.Event) bool {
	holds, known := a.t.Facts.Decided(e.Done, e.Threads)
	if !known || !holds {
		return true // a try that failed, or whose result nothing rests on
	}
	list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	for _, at := range list {
		o := m.objects[at.Object]
		if o == nil {
			continue
		}
		if m.pends(a, e, o) {
			return false
		}
		if o.released != nil {
			a.clock.join(o.released)
		}
		seen := a.passed[o]
		if seen == nil {
			seen = &passage{}
			a.passed[o] = seen
		}
		seen.stale = nil
		if seen.waits > 0 && seen.phases == o.phases {
			seen.stale = whole(a)
		}
		seen.waits++
		seen.phases = o.phases
	}
	return true
}

// pends reports whether the phase that a wait is for is not complete: the one of its parity, or of the arrival whose
// state it has.
func (m *machine) pends(a *agent, e *trace.Event, o *object) bool {
	n := verify.Address(e.In, 0) + 1
	if !e.In.Mod("parity") {
		phase, known := a.tokens[verify.Val(e, n)]
		return known && o.phases <= phase
	}
	parity, known := verify.Number(e, n)
	return known && int64(o.phases&1) == parity
}

// whole is the event that an agent is at.
func whole(a *agent) *trace.Event { return &a.t.Events[a.at] }

// do is every event that does not wait.
func (m *machine) do(a *agent, e *trace.Event) {
	switch e.Kind {
	case trace.Init:
		n, _ := verify.Number(e, verify.Address(e.In, 0)+1)
		list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
		for _, at := range list {
			was := m.objects[at.Object]
			m.objects[at.Object] = &object{place: at.Object, count: n, pending: n, init: e}
			if was != nil {
				m.objects[at.Object].unit = was.unit
			}
		}
	case trace.Inval:
		list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
		for _, at := range list {
			delete(m.objects, at.Object)
		}
	case trace.Arrive, trace.Expect:
		m.arrival(a, e)
	case trace.BulkLoad, trace.RemoteStore, trace.Answer:
		m.load(a, e)
	case trace.CopyArrive:
		m.copied(a, e)
	case trace.Complete:
		n, _ := verify.Number(e, verify.Address(e.In, 0)+1)
		list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
		for _, at := range list {
			if o := m.objects[at.Object]; o != nil {
				o.tx -= n * int64(at.Threads.Len())
				o.flipIfBegun()
			}
		}
	case trace.TensorMultiply, trace.TensorCopy, trace.TensorShift:
		op := m.new(a, e)
		a.copies = append(a.copies, op)
		m.reads(a, e, op.id)
		m.columns(a, e, op.id, true)
	case trace.TensorCommit:
		m.commit(a, e)
	case trace.TensorLoad, trace.TensorStore:
		m.columns(a, e, 0, e.Kind == trace.TensorStore)
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
		if r, ok := m.p.Access(e); ok && r.Shared() {
			m.note(access{e: e, by: a, when: a.at + 1, write: e.Kind != trace.Load, region: r})
		}
	case trace.Copy:
		for _, r := range m.p.Writes(e) {
			m.note(access{e: e, by: a, when: a.at + 1, write: true, region: r})
		}
	}
}

func closeGroups(list []*operation) {
	for _, op := range list {
		op.groups++
	}
}

// finish ends the operations of all but the last n groups.
func (a *agent) finish(list []*operation, n int) []*operation {
	return slices.DeleteFunc(list, func(op *operation) bool {
		over := op.groups > n
		if over {
			a.clock.done[op.id] = true
		}
		return over
	})
}

// arrival is mbarrier.arrive and .expect_tx. Arrivals at other blocks come back from them, which do alike.
func (m *machine) arrival(a *agent, e *trace.Event) {
	a.clock.agents[a.id] = a.at + 1
	n, _ := verify.Arrivals(e)
	list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	for _, at := range list {
		o := m.objects[at.Object]
		if o == nil {
			continue
		}
		threads := int64(at.Threads.Len())
		if at.Rank != nil {
			threads = m.here(at)
		}
		if e.Kind == trace.Expect || e.In.Mod("expect_tx") {
			bytes, _ := verify.Number(e, verify.Address(e.In, 0)+1)
			if e.Kind == trace.Expect || n*threads <= o.pending || o.tx == 0 {
				o.tx += bytes * threads
			} else {
				m.arrive(o, n*threads, a.clock, e)
				continue
			}
		}
		if e.Kind == trace.Arrive {
			if e.Done != nil {
				a.tokens[e.Done] = o.phases
			}
			if strings.HasPrefix(e.In.Op, "mbarrier.arrive_drop") {
				o.count -= n * threads // of the phases to come
				o.arrive(n*threads, a.clock, e)
				continue
			}
			m.arrive(o, n*threads, a.clock, e)
		}
	}
}

// arrive brings arrivals to an object, and reports those that its phase does not await any more.
func (m *machine) arrive(o *object, n int64, c *clock, e *trace.Event) {
	switch {
	case n > o.count:
		m.p.Report(&ruleCount, e.In, "%d arrivals at once, and a phase of the object is %d", n, o.count).Also(o.init.In, "the object is made here")
	case n > o.pending && o.tx != 0:
		m.p.Report(&ruleLap, e.In, "an arrival for a phase that has all its %d arrivals and still expects bytes: nothing made the thread wait for its end", o.count).
			Also(o.init.In, "the object is made here")
	}
	o.arrive(n, c, e)
}

// here is how many arrivals come to this block when all blocks of the cluster do what these threads do.
func (m *machine) here(at verify.Touch) int64 {
	size := max(1, m.p.Cluster)
	if at.Rank.Tid() {
		n := int64(0)
		at.Threads.Each(func(t int) {
			if m.p.Pool.At(at.Rank, t) == 0 {
				n++
			}
		})
		return n * int64(size)
	}
	return int64(at.Threads.Len())
}

// load is a copy into shared memory that completes at an object.
func (m *machine) load(a *agent, e *trace.Event) {
	op := m.new(a, e)
	threads := int64(e.Threads.Len())
	for _, r := range m.p.Writes(e) {
		m.note(m.wide(access{e: e, by: a, when: a.at + 1, operation: op.id, write: true, region: r}))
	}
	m.reads(a, e, op.id)
	bytes, known := verify.Number(e, 2)
	switch e.Kind {
	case trace.RemoteStore:
		bytes, known = memory.Bytes(e.In), true // of other blocks as many come here
	case trace.Answer:
		bytes, known = 16, true
	}
	list, _ := m.p.Objects(e, verify.Val(e, verify.Target(e)))
	for _, at := range list {
		o := m.objects[at.Object]
		if o == nil {
			continue
		}
		n := bytes * threads
		if o.unit > 0 || !known || verify.Tensor(e.In) {
			n = o.unit * threads
		}
		if e.In.Mod("multicast::cluster") && o.unit == 0 {
			n *= int64(max(1, m.p.Cluster))
		}
		m.due = append(m.due, &completion{run: func() {
			o.tx -= n
			// A copy publishes what it wrote, and nothing of what its issuer knows.
			end := &clock{agents: make([]int, len(m.agents)), done: map[int]bool{op.id: true}}
			if o.gathering == nil {
				o.gathering = end
			} else {
				o.gathering.join(end)
			}
			o.flipIfBegun()
		}})
	}
}

// copied is an arrival that comes when the copies of its thread before it have ended.
func (m *machine) copied(a *agent, e *trace.Event) {
	a.clock.agents[a.id] = a.at + 1
	know := a.clock.clone()
	list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	for _, at := range list {
		o := m.objects[at.Object]
		if o == nil {
			continue
		}
		n := int64(at.Threads.Len())
		if !e.In.Mod("noinc") {
			o.pending += n
		}
		m.due = append(m.due, &completion{run: func() { m.arrive(o, n, know, e) }})
	}
}

// flipIfBegun completes a phase whose bytes have all come, once its arrivals have.
func (o *object) flipIfBegun() {
	if o.pending <= 0 {
		o.flip()
	}
}

// commit arrives when the operations before it have ended.
func (m *machine) commit(a *agent, e *trace.Event) {
	ops := a.copies
	a.copies = nil
	know := a.clock.clone()
	list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
	n := int64(1)
	if e.In.Mod("multicast::cluster") {
		n = int64(max(1, m.p.Cluster))
	}
	for _, at := range list {
		o := m.objects[at.Object]
		if o == nil {
			continue
		}
		m.due = append(m.due, &completion{run: func() {
			for _, op := range ops {
				know.done[op.id] = true
			}
			m.arrive(o, n*int64(at.Threads.Len()), know, e)
		}})
	}
	// A later commit tracks these too.
	a.copies = append(a.copies, ops...)
	if len(a.copies) > 128 {
		a.copies = a.copies[len(a.copies)-128:]
	}
}
