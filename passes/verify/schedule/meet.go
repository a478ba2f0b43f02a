// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A number identifies one of the named barriers of a block.
type number struct {
	block int
	id    int64
}

// A barrierPhase is one phase of a thread barrier.
type barrierPhase struct {
	threads int  // number of arrived threads
	count   int  // number of threads that it waits for
	all     bool // it waits for all threads that have not exited
	agents  []*agent
	clock   *clock
	came    []barrierArrival
	over    []barrierArrival // arrivals of the previous meeting at this barrier
}

// A barrierArrival is the arrival of an agent at a barrier: its position, and whether it waits.
type barrierArrival struct {
	a     *agent
	e     *trace.Event
	at    int
	waits bool
}

// A gathering is the state of the cluster barrier, at which threads first arrive and later wait.
type gathering struct {
	threads int // number of completed phases
	phases  int // number of complete phases
	clock   *clock
	last    *clock // clock at the completion of the last phase
}

// leave completes barriers for all threads that wait only for threads that have exited.
func (m *machine) leave() {
	for _, g := range m.named {
		if g.all {
			m.release(g)
		}
	}
	m.gather()
}

// meet executes a thread barrier: of the block, named, of the warp, or of the cluster.
func (m *machine) meet(a *agent, e *trace.Event) bool {
	a.clock.agents[a.id] = a.at + 1
	switch e.Kind {
	case trace.ClusterArrive:
		if m.cluster.clock == nil {
			m.cluster.clock = m.clock()
		}
		m.cluster.clock.join(a.clock)
		m.cluster.threads += e.Threads.Len()
		a.phase = m.cluster.phases + 1
		m.gather()
		a.at++
		return true
	case trace.ClusterWait:
		if m.cluster.phases < a.phase {
			return false
		}
		if m.cluster.last != nil {
			a.clock.join(m.cluster.last)
			m.round++
			m.joins++
		}
		a.at++
		return true
	case trace.WarpSync:
		return m.warp(a, e)
	}
	id := int64(0)
	if n := verify.Val(e, verify.Barrier(e)); n != nil && n.Tid() {
		id = m.p.Pool.At(n, e.Threads.Least())
	}
	count, _ := verify.Count(e)
	return m.join(a, e, number{a.block, id}, int(count))
}

// gather completes a phase of the cluster barrier when all threads that have not exited have
// arrived.
func (m *machine) gather() {
	g := &m.cluster
	here := g.threads
	for _, a := range m.agents {
		if a.left {
			here += a.threads.Len()
		}
	}
	if g.threads == 0 || here < m.p.Pool.Threads*m.p.Ranks {
		return
	}
	if g.last != nil {
		g.clock.join(g.last)
	}
	*g = gathering{phases: g.phases + 1, last: g.clock}
}

// join counts an agent at a barrier that expects count threads. A count of 0 means all threads that
// have not exited.
func (m *machine) join(a *agent, e *trace.Event, at number, count int) bool {
	g := m.named[at]
	if g == nil {
		g = &barrierPhase{clock: m.clock()}
		m.named[at] = g
	}
	m.recurs(g, at.id, barrierArrival{a, whole(a), a.at, e.Kind == trace.BarrierSync})
	g.count, g.all = max(g.count, count), g.all || count == 0
	g.clock.join(a.clock)
	g.threads += e.Threads.Len()
	if n := e.Threads.Len() % 32; count > 0 && n != 0 && !m.split(a, e) {
		g.threads += 32 - n // a partial warp counts as a whole one at named barriers
	}
	if e.Kind == trace.BarrierArrive {
		a.at++
	} else {
		g.agents = append(g.agents, a)
		a.waiting = true
	}
	m.release(g)
	return e.Kind == trace.BarrierArrive || !a.waiting
}

// split reports whether other lanes of an agent's warp execute the same barrier separately, and
// have done so once more than the agent.
func (m *machine) split(a *agent, e *trace.Event) bool {
	turn := a.comes(e.In, a.at)
	for _, o := range m.agents {
		if o != a && o.home() == a.home() && o.comes(e.In, len(o.t.Events)) > turn {
			return true
		}
	}
	return false
}

// comes returns how many times an agent executes an instruction in the first events of its trace.
func (a *agent) comes(in *ir.Instr, events int) int {
	n := 0
	for i := range a.t.Events[:events] {
		if x := &a.t.Events[i]; x.In == in && x.Threads.And(a.threads) != (value.Set{}) {
			n++
		}
	}
	return n
}

// release completes a barrier when enough threads have arrived.
func (m *machine) release(g *barrierPhase) {
	if len(g.agents) == 0 {
		return
	}
	here, count := g.threads, g.count
	if g.all {
		count = m.p.Pool.Threads
		for _, a := range m.agents {
			if a.left && a.block == g.agents[0].block {
				here += a.threads.Len()
			}
		}
	}
	if here < count {
		return
	}
	m.round++
	m.joins++
	for _, a := range g.agents {
		a.clock.join(g.clock)
		a.waiting = false
		a.at++
	}
	*g = barrierPhase{clock: m.clock(), over: g.came}
}

// recurs reports a warp that arrives at a barrier again after an arrival without a wait, and cannot
// know that the previous phase is complete: both arrivals may count for the same phase. Reductions
// only combine with reductions.
func (m *machine) recurs(g *barrierPhase, id int64, c barrierArrival) {
	for _, o := range g.came {
		if (c.e.In.Kind() == isa.KindBarrierRed) != (o.e.In.Kind() == isa.KindBarrierRed) &&
			!m.p.Subsumed(&mixes) {
			m.p.Report(&ruleMix, c.e.In, "barrier %d is used by a reduction and by a plain "+
				"arrival at the same time", id).Also(o.e.In, "the other use").On(c.a.t, c.at)
		}
	}
	self := slices.IndexFunc(g.came, func(o barrierArrival) bool { return o.a == c.a })
	var first *ir.Instr
	if self >= 0 {
		first = g.came[self].e.In
	} else if i := slices.IndexFunc(g.over, func(o barrierArrival) bool {
		return o.a == c.a && !o.waits
	}); i >= 0 {
		first = g.over[i].e.In
		for _, o := range g.over {
			if o.waits && c.a.clock.agents[o.a.id] > o.at+1 {
				first = nil // the waiting agent has continued and signalled
			}
		}
	}
	g.came = append(g.came, c)
	if first == nil || m.p.Subsumed(&returns) {
		return
	}
	f := m.p.Report(&ruleMix, c.e.In,
		"%s arrives again at barrier %d, but nothing shows that the phase of its last arrival is complete: both arrivals may count for one phase",
		m.who(c.a), id).
		Also(first, "it arrived here").On(c.a.t, c.at)
	if m.p.Flags() {
		f.As(diag.Review)
	}
}

// warp executes bar.warp.sync, which waits for the other agents of the warp that execute it.
func (m *machine) warp(a *agent, e *trace.Event) bool {
	var list []*agent
	for _, o := range m.agents {
		if o == a || o.home() != a.home() || o.left {
			continue
		}
		for i := o.at; i < len(o.t.Events); i++ {
			if x := &o.t.Events[i]; x.In == e.In && x.Threads.And(o.threads) != (value.Set{}) {
				if i > o.at {
					return false
				}
				list = append(list, o)
				break
			}
		}
	}
	m.joins++
	for _, o := range list {
		a.clock.join(o.clock)
	}
	for _, o := range list {
		o.clock.join(a.clock)
		o.at++
	}
	a.at++
	return true
}
