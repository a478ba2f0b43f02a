// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// An agent is the lanes of one warp that follow one trace.
type agent struct {
	id      int
	block   int
	warp    int
	threads value.Set
	apart   bool // other lanes of its warp are other agents
	t       *trace.Trace
	idle    []bool // of its events, see idle
	at      int
	clock   *clock
	// groups of operations that end at a wait of the agent itself: wgmma and bulk stores.
	wgmma, bulk, copies []*operation
	now                 trace.Event // the event that it is at, for its own threads
	waiting             bool        // at a barrier, counted there
	awaits              awaited
	phase               int // of the cluster's barrier that it arrived for
	passed              map[*object]*passage
	tokens              map[*value.Value]int // phases that arrivals were for, by the state that they gave
	times               map[*ir.Instr]int    // how often it came to an operation of its warpgroup
	fences              []fence
	fenced              []int  // what it knew at its last fence; see mark
	polls               []mark // flags that it loaded since
	left                bool
	lasts               map[*ir.Instr]int // where it comes to what its warp does together for the last time
	with                int               // the event behind the last one that its warp did together
}

// A passage is what an agent learned at its waits for an object: how many it passed, of which phase the last told, and
// whether that was the phase that the one before told of.
type passage struct {
	waits, phase int
	stale        *trace.Event
}

// Awaited is what an agent waits for: the objects of a wait that it asked after before.
type awaited struct {
	at     int // the event behind the wait
	made   int // see machine.changed
	list   []target
	parity int64 // that it names, or -1
}

// An operation is asynchronous.
type operation struct {
	id     int
	e      *trace.Event
	by     *agent
	groups int
}

// A spot is the location of an mbarrier: the block of the cluster, and the address there.
type spot struct {
	block int
	verify.Object
}

// An object is the state of an mbarrier.
type object struct {
	number    int // of those that were made
	count     int64
	pending   int64
	tx        int64
	phases    int // completed
	gathering *clock
	released  []*clock // with each phase, what was done before its end
	came      [2][]int // agents that arrived in this phase, and in the one before
	unit
	init *trace.Event
	last *trace.Event // that arrived
}

// A unit is the assumed size of one copy of unknown size at a row of mbarriers.
type unit struct {
	unit   int64 // that it brings of tx; 0 where there is none
	copies int64 // of unknown size there are in all: tx is so many times bytes
}

// An access is one use of memory, by an agent or by an asynchronous operation.
type access struct {
	e         *trace.Event
	by        *agent
	when      int // of the agent
	operation int // 0 for the agent itself
	write     bool
	block     int // whose memory it is
	region    memory.Region
	core      memory.Region // of it, what is certain, where that is less
	tensor    bool
	number    int          // of those that were noted
	lanes     verify.Lanes // of tensor memory
	knows     []int        // the progress of all agents, if the kernel has flags
}

// A machine runs one scene.
type machine struct {
	outcomes *outcomes // of all scenes

	p       *verify.Pass
	agents  []*agent
	objects map[spot]*object
	made    int // objects, those at one place after the other too
	changed int // how often one was made or given up
	shares  map[spot]unit
	named   map[number]*meeting
	cluster gathering
	loads   []*operation  // copies into shared memory
	due     []*completion // asynchronous, in the order of issue
	racks   []*rack       // of each room that something was noted in
	stock   *stock
	// Lists that are used again and again: of regions, of targets and of blocks.
	regions []memory.Region
	targets []target
	some    []int
	noted   int   // accesses
	round   int   // barriers of threads that let somebody go on
	joins   int   // how often somebody learned of others
	floored int   // of them, when floor was worked out
	floor   []int // up to where each agent is known of by all others
	next    int
	joints  map[joint]int
	lanes   map[warp]int    // of a warp, its agents
	engines []memory.Region // that asynchronous operations access
	doubts  []doubt
	idle    []doubt // races with copies where there is nothing to do
	lapses  lapses
	flags   *flags
	// released and acquired are the marks of flags, and suspects the races that they may exclude.
	released, acquired []mark
	suspects           []suspect
	// signalled is what commits told other blocks.
	signalled []signal
	plain     bool // plain accesses are compared among themselves
	work      *int // done on the kernel so far, in comparisons and steps
	most      int  // of it
}

// A completion is the effect of the end of an asynchronous operation.
type completion struct {
	run   func()
	ready func() bool
}

func newMachine(p *verify.Pass, s []*trace.Trace, work *int, stock *stock) *machine {
	stock.reset()
	m := &machine{p: p, work: work, stock: stock, most: bound(p), joints: make(map[joint]int), lanes: make(map[warp]int), objects: make(map[spot]*object), shares: make(map[spot]unit), named: make(map[number]*meeting), floored: -1}
	if !p.Needs(trace.Wait, trace.Copy, trace.BulkLoad, trace.BulkStore, trace.GroupMultiply, trace.TensorMultiply) {
		m.most /= 4 // barriers alone are seen in few turns as well as in many
	}
	for _, t := range s {
		for w := range value.MaxThreads / 32 {
			if t.Threads.Lanes(w) == 0 {
				continue
			}
			var lanes value.Set
			lanes[w/2] = uint64(t.Threads.Lanes(w)) << (w % 2 * 32)
			m.agents = append(m.agents, &agent{id: len(m.agents), block: t.Rank, warp: w, threads: lanes, t: t})
		}
	}
	// Single lanes go first: they are those that may leave the rest of their warp behind.
	slices.SortStableFunc(m.agents, func(a, b *agent) int { return a.threads.Len() - b.threads.Len() })
	for i, a := range m.agents {
		a.id = i
		m.lanes[a.home()]++
		a.passed, a.tokens, a.times = make(map[*object]*passage), make(map[*value.Value]int), make(map[*ir.Instr]int)
		a.clock = m.clock()
	}
	for _, a := range m.agents {
		a.apart = m.lanes[a.home()] > 1
		a.idle = stock.idle(p, a.t, a.apart)
	}
	return m
}

// most is how much work one kernel is worth, with the usual effort: some tenths of a second. So much of it is as much as following one instruction.
const (
	most    = 5_000_000
	perStep = 8
)

// bound is how much work a kernel is worth; one whose blocks are many of a cluster is as much as several.
func bound(p *verify.Pass) int { return most * p.Effort() * max(1, p.Ranks/4) }

// run lets every agent go as far as it can, and completes asynchronous operations only when no
// agent can continue. It returns the agents that are stuck in the end.
func (m *machine) run() (stuck []*agent, ok bool) {
	for {
		moved := false
		for _, a := range m.agents {
			for !a.left && m.step(a) {
				moved = true
				if *m.work += 16; *m.work > m.most {
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

// complete completes the oldest asynchronous operation that can complete.
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

// object creates the state of an mbarrier.
func (m *machine) object(at spot, o object) *object {
	o.number = m.made
	m.made++
	m.changed++
	m.objects[at] = &o
	return &o
}

// A warp is one of a block of the cluster.
type warp struct{ block, number int }

// home is the warp that an agent is of.
func (a *agent) home() warp { return warp{a.block, a.warp} }

// A joint is an operation of a warpgroup, which its four warps make together: the nth time that they come to it.
type joint struct {
	in    *ir.Instr
	time  int
	group warp
}

// new returns an asynchronous operation. The warps of a warpgroup share theirs: existing code
// lets one of them release for all (W4 reports it).
func (m *machine) new(a *agent, e *trace.Event) *operation {
	if e.Kind == trace.GroupMultiply {
		a.times[e.In]++
		k := joint{e.In, a.times[e.In], warp{a.block, a.warp / 4}}
		if m.joints[k] == 0 {
			m.next++
			m.joints[k] = m.next
		}
		return m.stock.operation(operation{id: m.joints[k], e: whole(a), by: a})
	}
	m.next++
	return m.stock.operation(operation{id: m.next, e: whole(a), by: a})
}

// scale is what a byte counts in tx.
func (o *object) scale() int64 { return max(1, o.copies) }

// arrive brings arrivals and what the arriver knows to an object.
func (o *object) arrive(n int64, c *clock, e *trace.Event) {
	o.gather(c)
	o.last = e
	o.pending -= n
	o.flip()
}

// gather adds what somebody knows to what those who wait for the phase will know.
func (o *object) gather(c *clock) {
	if o.gathering == nil {
		o.gathering = c.clone()
	} else {
		o.gathering.join(c)
	}
}

// flip completes the phase when nothing is pending.
func (o *object) flip() {
	if o.pending > 0 || o.tx != 0 || o.gathering == nil {
		return
	}
	if o.phases > 0 {
		o.gathering.join(o.released[o.phases-1])
	}
	o.gathering.saw(o, o.phases)
	o.released = append(o.released, o.gathering)
	o.gathering = nil
	o.phases++
	o.pending += o.count
	o.came = [2][]int{nil, o.came[0]}
}
