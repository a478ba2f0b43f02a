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
	for id, g := range m.named {
		if g != nil && id < 0 {
			m.release(g, -1)
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
			m.cluster = &meeting{clock: &clock{agents: make([]int, len(m.agents)), done: map[int]bool{}}}
		}
		m.cluster.clock.join(a.clock)
		a.at++
		return true
	case trace.WarpSync:
		return m.warp(a, whole)
	case trace.ClusterWait:
		return m.join(a, e, -2, m.p.Pool.Threads)
	}
	if m.p.Everyone(e) && e.Kind == trace.BarrierSync {
		n, _ := verify.Number(e, 0)
		return m.join(a, e, -10-n, m.p.Pool.Threads)
	}
	number := verify.Val(e, 0)
	id := int64(0)
	if number != nil && number.Tid() {
		id = m.p.Pool.At(number, e.Threads.Least())
	}
	count, _ := verify.Number(e, 1)
	return m.join(a, e, id, int(count))
}

// join counts an agent at a barrier.
func (m *machine) join(a *agent, e *trace.Event, id int64, count int) bool {
	g := m.named[id]
	if g == nil {
		g = &meeting{clock: &clock{agents: make([]int, len(m.agents)), done: map[int]bool{}}}
		m.named[id] = g
	}
	g.clock.join(a.clock)
	g.threads += e.Threads.Len()
	if id >= 0 {
		// Warps count whole at numbered barriers.
		if n := e.Threads.Len() % 32; n != 0 {
			g.threads += 32 - n
		}
	}
	if e.Kind == trace.BarrierArrive {
		a.at++
	} else {
		g.agents = append(g.agents, a)
		a.waiting = true
	}
	m.release(g, count)
	return e.Kind == trace.BarrierArrive || !a.waiting
}

// release lets a meeting go on when enough have come; -1 stands for all that have not left.
func (m *machine) release(g *meeting, count int) {
	here := g.threads
	if count < 0 || count == m.p.Pool.Threads {
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
	*g = meeting{clock: &clock{agents: make([]int, len(m.agents)), done: map[int]bool{}}}
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
