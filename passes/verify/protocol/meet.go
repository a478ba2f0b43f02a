// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// leave lets barriers of all threads go on without those that have left.
func (m *machine) leave() {
	for _, g := range m.named {
		if g.all {
			m.release(g)
		}
	}
}

// meet is a barrier of threads: the block's, a numbered one, the warp's or the cluster's.
func (m *machine) meet(a *agent, e, whole *trace.Event) bool {
	if a.waiting {
		return false
	}
	a.clock.agents[a.id] = a.at + 1
	switch e.Kind {
	case trace.ClusterArrive:
		if m.cluster == nil {
			m.cluster = m.meeting()
		}
		m.cluster.clock.join(a.clock)
		a.at++
		return true
	case trace.WarpSync:
		return m.warp(a, whole)
	case trace.ClusterWait:
		return m.join(a, e, ofCluster, 0)
	}
	number := verify.Val(e, 0)
	id := int64(0)
	if number != nil && number.Tid() {
		id = m.p.Pool.At(number, e.Threads.Least())
	}
	count, _ := verify.Count(e)
	return m.join(a, e, id, int(count))
}

// ofCluster is the number of the cluster's barrier, which no barrier of the block has.
const ofCluster = -1

// join counts an agent at a barrier, which waits for so many threads; 0 stands for all that have not left.
func (m *machine) join(a *agent, e *trace.Event, id int64, count int) bool {
	g := m.named[id]
	if g == nil {
		g = m.meeting()
		m.named[id] = g
	}
	g.count, g.all = max(g.count, count), g.all || count == 0
	g.clock.join(a.clock)
	g.threads += e.Threads.Len()
	if n := e.Threads.Len() % 32; count > 0 && n != 0 && !m.split(a, e) {
		g.threads += 32 - n // warps count whole at numbered barriers
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

// split reports whether other lanes of an agent's warp come to the same barrier apart from it.
func (m *machine) split(a *agent, e *trace.Event) bool {
	for _, o := range m.agents {
		if o == a || o.warp != a.warp || o.left {
			continue
		}
		for i := o.at; i < len(o.t.Events); i++ {
			if x := &o.t.Events[i]; x.In == e.In && x.Threads.And(o.threads) != (value.Set{}) {
				return true
			}
		}
	}
	return false
}

// meeting is a new one.
func (m *machine) meeting() *meeting {
	return &meeting{clock: &clock{agents: make([]int, len(m.agents)), done: map[int]bool{}}}
}

// release lets a meeting go on when enough have come.
func (m *machine) release(g *meeting) {
	here, count := g.threads, g.count
	if g.all {
		count = m.p.Pool.Threads
		for _, a := range m.agents {
			if a.left {
				here += a.threads.Len()
			}
		}
	}
	if len(g.agents) == 0 || here < count {
		return
	}
	for _, a := range g.agents {
		a.clock.join(g.clock)
		a.waiting = false
		a.at++
	}
	*g = *m.meeting()
}

// warp is bar.warp.sync: it waits for the agents of the warp that come to it too.
func (m *machine) warp(a *agent, e *trace.Event) bool {
	var list []*agent
	for _, o := range m.agents {
		if o == a || o.warp != a.warp || o.left {
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
