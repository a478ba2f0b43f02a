// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A clock is what an agent knows to have happened: of each agent up to where, and which operations in the
// background have ended.
type clock struct {
	agents []int
	done   map[int]bool
}

func (c *clock) join(o *clock) {
	for i, n := range o.agents {
		c.agents[i] = max(c.agents[i], n)
	}
	for n := range o.done {
		c.done[n] = true
	}
}

func (c *clock) clone() *clock {
	d := &clock{agents: append([]int(nil), c.agents...), done: make(map[int]bool, len(c.done))}
	for n := range c.done {
		d.done[n] = true
	}
	return d
}

// An agent is the lanes of one warp that follow one trace.
type agent struct {
	id      int
	warp    int
	threads value.Set
	t       *trace.Trace
	at      int
	clock   *clock
	// groups of operations that end at a wait of the agent itself: wgmma and bulk stores.
	wgmma, bulk, copies []*operation
	waiting             bool // at a barrier, counted there
	passed              map[*object]*passage
	tokens              map[*value.Value]int // phases that arrivals were for, by the state that they gave
	left                bool
}

// A passage is what an agent saw of an object's phases: how many waits it passed, the phases that were
// complete at the last, and whether that had let it pass before.
type passage struct {
	waits, phases int
	stale         *trace.Event
}

// An operation runs in the background.
type operation struct {
	id     int
	e      *trace.Event
	by     *agent
	groups int
}

// An object is a barrier object at work.
type object struct {
	place     verify.Object
	count     int64
	pending   int64
	tx        int64
	phases    int // completed
	gathering *clock
	released  *clock // of all completed phases
	unit      int64  // bytes that one copy of unknown size stands for; 0 where sizes are known
	init      *trace.Event
	last      *trace.Event // that arrived
}

// An access is one use of memory, by an agent or by an operation in the background.
type access struct {
	e         *trace.Event
	by        *agent
	when      int // of the agent
	operation int // 0 for the agent itself
	write     bool
	region    memory.Region
	core      memory.Region // of it, what is certain, where that is less
	tensor    bool
}

// A machine runs one scene.
type machine struct {
	p       *verify.Pass
	agents  []*agent
	objects map[verify.Object]*object
	named   map[int64]*meeting
	cluster *meeting
	due     []*completion // in the background, in the order of issue
	past    map[bin][]access
	next    int
	joints  map[joint]int
	lanes   map[int]int     // of a warp, its agents
	engines []memory.Region // that operations in the background work on
	plain   bool            // plain accesses are compared among themselves
	work    *int            // done on the kernel so far, in comparisons and steps
}

// A meeting is a barrier of threads.
type meeting struct {
	threads int  // that came
	count   int  // that it waits for
	all     bool // it waits for all that have not left
	agents  []*agent
	clock   *clock
}

// A completion is what the end of something in the background does.
type completion struct {
	run   func()
	ready func() bool
}

func newMachine(p *verify.Pass, s []*trace.Trace, work *int) *machine {
	m := &machine{p: p, work: work, joints: make(map[joint]int), lanes: make(map[int]int), objects: make(map[verify.Object]*object), named: make(map[int64]*meeting),
		past: make(map[bin][]access)}
	for _, t := range s {
		for w := range value.MaxThreads / 32 {
			if t.Threads.Lanes(w) == 0 {
				continue
			}
			var lanes value.Set
			lanes[w/2] = uint64(t.Threads.Lanes(w)) << (w % 2 * 32)
			m.agents = append(m.agents, &agent{id: len(m.agents), warp: w, threads: lanes, t: t})
		}
	}
	// Single lanes go first: they are those that may leave the rest of their warp behind.
	slices.SortStableFunc(m.agents, func(a, b *agent) int { return a.threads.Len() - b.threads.Len() })
	for i, a := range m.agents {
		a.id = i
		m.lanes[a.warp]++
		a.passed, a.tokens = make(map[*object]*passage), make(map[*value.Value]int)
		a.clock = &clock{agents: make([]int, len(m.agents)), done: make(map[int]bool)}
	}
	return m
}

// most is how much work one kernel is worth: some tenths of a second.
const most = 5_000_000

// run lets every agent go as far as it can, and what is in the background end only when nobody can go on.
// It is the agents that are stuck in the end.
func (m *machine) run() (stuck []*agent, ok bool) {
	for {
		moved := false
		for _, a := range m.agents {
			for !a.left && m.step(a) {
				moved = true
				if *m.work += 16; *m.work > most {
					return nil, false
				}
			}
		}
		if moved {
			continue
		}
		if m.complete() {
			continue
		}
		for _, a := range m.agents {
			if !a.left {
				stuck = append(stuck, a)
			}
		}
		return stuck, true
	}
}

// complete ends the oldest thing in the background that can end.
func (m *machine) complete() bool {
	for i, c := range m.due {
		if c.ready == nil || c.ready() {
			m.due = append(m.due[:i:i], m.due[i+1:]...)
			c.run()
			return true
		}
	}
	return false
}

// A joint is an operation of a warpgroup, which its four warps make together.
type joint struct {
	t     *trace.Trace
	at    int
	group int
}

// new is an operation in the background. The warps of a warpgroup share theirs: code in use lets one of
// them give back for all (W4 tells of it).
func (m *machine) new(a *agent, e *trace.Event) *operation {
	if e.Kind == trace.GroupMultiply {
		k := joint{a.t, a.at, a.warp / 4}
		if m.joints[k] == 0 {
			m.next++
			m.joints[k] = m.next
		}
		return &operation{id: m.joints[k], e: e, by: a}
	}
	m.next++
	return &operation{id: m.next, e: e, by: a}
}

// arrive brings arrivals and what the arriver knows to an object.
func (o *object) arrive(n int64, c *clock, e *trace.Event) {
	if o.gathering == nil {
		o.gathering = c.clone()
	} else {
		o.gathering.join(c)
	}
	o.last = e
	o.pending -= n
	o.flip()
}

// flip completes the phase when nothing is pending.
func (o *object) flip() {
	if o.pending > 0 || o.tx != 0 {
		return
	}

	o.phases++
	o.pending += o.count
	if o.gathering != nil {
		if o.released == nil {
			o.released = o.gathering
		} else {
			o.released.join(o.gathering)
		}
		o.gathering = nil
	}
}
