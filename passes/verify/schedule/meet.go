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

// A barrierID identifies one of the named barriers of a block.
type barrierID struct {
	block int
	id    int64
}

// A barrierPhase is one phase of a thread barrier.
type barrierPhase struct {
	threads  int  // number of arrived threads
	count    int  // number of threads for which the barrier waits
	all      bool // the barrier waits for all threads that have not exited
	agents   []*agent
	clock    *clock
	arrivals []barrierArrival
	previous []barrierArrival // arrivals of the previous phase
}

// A barrierArrival is the arrival of an agent at a barrier. at is the index of the event; waits
// is false for bar.arrive.
type barrierArrival struct {
	a     *agent
	e     *trace.Event
	at    int
	waits bool
}

// A clusterBarrier is the state of the cluster barrier, at which threads first arrive and later
// wait.
type clusterBarrier struct {
	threads int // number of threads that have arrived in the current phase
	phases  int // number of completed phases
	clock   *clock
	last    *clock // clock at the completion of the last phase
}

// completeAfterExit completes the barriers that now wait only for threads that have exited.
func (m *machine) completeAfterExit() {
	for _, g := range m.named {
		if g.all {
			m.completeBarrier(g)
		}
	}
	m.completeClusterPhase()
}

// executeBarrier executes a barrier of the block, a named barrier, a warp barrier or a cluster
// barrier. It returns false if the agent must wait.
func (m *machine) executeBarrier(a *agent, e *trace.Event) bool {
	a.clock.agents[a.id] = a.at + 1
	switch e.Kind {
	case trace.ClusterArrive:
		if m.cluster.clock == nil {
			m.cluster.clock = m.newClock()
		}
		m.cluster.clock.join(a.clock)
		m.cluster.threads += e.Threads.Len()
		a.phase = m.cluster.phases + 1
		m.completeClusterPhase()
		a.at++
		return true
	case trace.ClusterWait:
		if m.cluster.phases < a.phase {
			return false
		}
		if m.cluster.last != nil {
			a.clock.join(m.cluster.last)
			m.barriers++
			m.joins++
		}
		a.at++
		return true
	case trace.WarpSync:
		return m.executeWarpSync(a, e)
	}
	id := int64(0)
	if n := verify.Val(e, verify.Barrier(e)); n != nil && n.Tid() {
		id = m.p.Pool.At(n, e.Threads.Least())
	}
	count, _ := verify.Count(e)
	return m.joinBarrier(a, e, barrierID{a.block, id}, int(count))
}

// completeClusterPhase completes a phase of the cluster barrier if all threads that have not
// exited have arrived.
func (m *machine) completeClusterPhase() {
	g := &m.cluster
	arrived := g.threads
	for _, a := range m.agents {
		if a.exited {
			arrived += a.threads.Len()
		}
	}
	if g.threads == 0 || arrived < m.p.Pool.Threads*m.p.Ranks {
		return
	}
	if g.last != nil {
		g.clock.join(g.last)
	}
	*g = clusterBarrier{phases: g.phases + 1, last: g.clock}
}

// joinBarrier counts an agent at a barrier that expects count threads. A count of 0 means all
// threads that have not exited. It returns false if the agent must wait.
func (m *machine) joinBarrier(a *agent, e *trace.Event, at barrierID, count int) bool {
	g := m.named[at]
	if g == nil {
		g = &barrierPhase{clock: m.newClock()}
		m.named[at] = g
	}
	m.checkRepeatedArrival(g, at.id,
		barrierArrival{a, currentEvent(a), a.at, e.Kind == trace.BarrierSync})
	g.count, g.all = max(g.count, count), g.all || count == 0
	g.clock.join(a.clock)
	g.threads += e.Threads.Len()
	if n := e.Threads.Len() % 32; count > 0 && n != 0 && !m.isBehindWarp(a, e) {
		g.threads += 32 - n // a partial warp counts as 32 threads at named barriers
	}
	if e.Kind == trace.BarrierArrive {
		a.at++
	} else {
		g.agents = append(g.agents, a)
		a.waiting = true
	}
	m.completeBarrier(g)
	return e.Kind == trace.BarrierArrive || !a.waiting
}

// isBehindWarp reports whether other lanes of an agent's warp execute the same barrier
// separately, and execute it at least once more than the agent has so far.
func (m *machine) isBehindWarp(a *agent, e *trace.Event) bool {
	turn := a.countExecutions(e.In, a.at)
	for _, o := range m.agents {
		if o != a && o.home() == a.home() && o.countExecutions(e.In, len(o.t.Events)) > turn {
			return true
		}
	}
	return false
}

// countExecutions returns how many times an agent executes an instruction among the first events
// of its trace.
func (a *agent) countExecutions(in *ir.Instr, events int) int {
	n := 0
	for i := range a.t.Events[:events] {
		if x := &a.t.Events[i]; x.In == in && x.Threads.And(a.threads) != (value.Set{}) {
			n++
		}
	}
	return n
}

// completeBarrier completes a barrier if enough threads have arrived.
func (m *machine) completeBarrier(g *barrierPhase) {
	if len(g.agents) == 0 {
		return
	}
	arrived, count := g.threads, g.count
	if g.all {
		count = m.p.Pool.Threads
		for _, a := range m.agents {
			if a.exited && a.block == g.agents[0].block {
				arrived += a.threads.Len()
			}
		}
	}
	if arrived < count {
		return
	}
	m.barriers++
	m.joins++
	for _, a := range g.agents {
		a.clock.join(g.clock)
		a.waiting = false
		a.at++
	}
	*g = barrierPhase{clock: m.newClock(), previous: g.arrivals}
}

// checkRepeatedArrival reports a warp that arrives at a barrier again after an arrival without a
// wait, if the previous phase is not certain to be complete: both arrivals may count for the same
// phase. It also reports reductions that share a phase with plain arrivals.
func (m *machine) checkRepeatedArrival(g *barrierPhase, id int64, c barrierArrival) {
	for _, o := range g.arrivals {
		if (c.e.In.Kind() == isa.KindBarrierRed) != (o.e.In.Kind() == isa.KindBarrierRed) &&
			!m.p.Subsumed(&mixedArrivals) {
			m.p.Report(&ruleMix, c.e.In, "barrier %d is used by a reduction and by a plain "+
				"arrival at the same time", id).Also(o.e.In, "the other use").On(c.a.t, c.at)
		}
	}
	self := slices.IndexFunc(g.arrivals, func(o barrierArrival) bool { return o.a == c.a })
	var first *ir.Instr
	if self >= 0 {
		first = g.arrivals[self].e.In
	} else if i := slices.IndexFunc(g.previous, func(o barrierArrival) bool {
		return o.a == c.a && !o.waits
	}); i >= 0 {
		first = g.previous[i].e.In
		for _, o := range g.previous {
			if o.waits && c.a.clock.agents[o.a.id] > o.at+1 {
				first = nil // the waiting agent has continued and signalled
			}
		}
	}
	g.arrivals = append(g.arrivals, c)
	if first == nil || m.p.Subsumed(&repeatedArrivals) {
		return
	}
	f := m.p.Report(&ruleMix, c.e.In,
		"%s arrives again at barrier %d, but nothing shows that the phase of its last arrival is complete: both arrivals may count for one phase",
		m.warpName(c.a), id).
		Also(first, "it arrived here").On(c.a.t, c.at)
	if m.p.Flags() {
		f.As(diag.Review)
	}
}

// executeWarpSync executes bar.warp.sync, which waits for the other agents of the warp that
// execute the same instruction.
func (m *machine) executeWarpSync(a *agent, e *trace.Event) bool {
	var list []*agent
	for _, o := range m.agents {
		if o == a || o.home() != a.home() || o.exited {
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
