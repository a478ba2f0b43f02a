// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

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
	idle    []bool // which events of t are idle, see idle
	at      int
	clock   *clock
	// Groups of operations that the agent itself waits for: wgmma operations and bulk stores.
	wgmma, bulk, copies []*operation
	now                 trace.Event // its current event, restricted to its own threads
	active              value.Set   // the threads of now
	waiting             bool        // already counted at a barrier
	awaits              awaitedMbarriers
	phase               int // phase of the cluster barrier at which it arrived
	passed              map[*object]*waitHistory
	// The phase of each arrival, by the state that it returned.
	tokens map[*value.Value]int
	times  map[*ir.Instr]int // number of executions of each warpgroup operation
	fences []fence
	fenced []int  // progress that it knew of at its last fence; see mark
	polls  []mark // flags loaded since
	left   bool
	lasts  map[*ir.Instr]int // last position of each warp-wide instruction
	with   int               // position in its events after the last warp-wide instruction
}

// A waitHistory is what an agent learned at its waits for an mbarrier: the number of waits passed,
// the last phase known to be complete, and whether the last wait added nothing to that.
type waitHistory struct {
	waits, phase int
	stale        *trace.Event
}

// awaitedMbarriers holds the mbarriers of the wait that an agent is blocked at.
type awaitedMbarriers struct {
	at     int // position after the wait
	made   int // see machine.changed
	list   []target
	parity int64 // parity that the wait names, or -1
}

// An operation is an asynchronous operation.
type operation struct {
	id     int
	e      *trace.Event
	by     *agent
	groups int
}

// A mbarrierPlace is the location of an mbarrier: the block of the cluster, and the address there.
type mbarrierPlace struct {
	block int
	verify.Object
}

// An object is the state of an mbarrier.
type object struct {
	number    int // index in order of initialization
	count     int64
	pending   int64
	tx        int64
	phases    int // completed
	gathering *clock
	released  []*clock // for each phase, what happened before its completion
	came      [2][]int // for each phase, the clock at its completion
	unit
	init *trace.Event
	last *trace.Event // last event that arrived
}

// A unit is the assumed size of one copy of unknown size at an array of mbarriers.
type unit struct {
	unit   int64 // its part of tx, or 0 if sizes are known
	copies int64 // number of copies of unknown size; tx is scaled by it
}

// An access is an access to memory by an agent or by an asynchronous operation.
type access struct {
	e         *trace.Event
	by        *agent
	when      int // progress of the agent
	operation int // 0 for the agent itself
	write     bool
	tensor    bool
	block     int // the block that owns the memory
	region    memory.Region
	core      *memory.Region // the part that is certain, if it is smaller
	number    int            // index in order of recording
	lanes     verify.Lanes   // lanes of tensor memory
	knows     []int          // the progress of all agents, if the kernel has flags
}

// A machine simulates one scene.
type machine struct {
	outcomes *outcomes // outcomes of all scenes

	p        *verify.Pass
	agents   []*agent
	objects  map[mbarrierPlace]*object
	made     int // mbarriers created, including several at one address
	changed  int // number of initializations and invalidations
	shares   map[mbarrierPlace]unit
	named    map[number]*barrierPhase
	cluster  gathering
	loads    []*operation   // copies into shared memory
	due      []*completion  // asynchronous operations, in order of issue
	indexes  []*accessIndex // one for each accessed root
	freeList *freeList
	// Reused lists of regions, targets and blocks.
	regions []memory.Region
	targets []target
	some    []int
	noted   int   // number of accesses
	round   int   // number of completed thread barriers
	joins   int   // number of times an agent learned about others
	floored int   // value of joins when floor was computed
	floor   []int // progress of each agent that all others know of
	next    int
	joints  map[jointExecution]int
	lanes   map[warp]int    // number of agents of each warp
	engines []memory.Region // memory that asynchronous operations access
	doubts  []doubt
	idle    []doubt // races with copies in a launch without work
	lapses  lapses
	flags   *flags
	// released and acquired are the marks of flags, and suspects the races that they may exclude.
	released, acquired []mark
	suspects           []suspect
	// signalled holds arrivals of commits in other blocks.
	signalled []signal
	plain     bool // plain accesses are compared with each other
	work      *int // work done on the kernel so far, in comparisons and steps
	most      int  // limit of work
}

// A completion is the effect of the end of an asynchronous operation.
type completion struct {
	run   func()
	ready func() bool
}

func newMachine(p *verify.Pass, s []*trace.Trace, work *int, freeList *freeList) *machine {
	freeList.reset()
	m := &machine{p: p, work: work, freeList: freeList, most: bound(p),
		joints: make(map[jointExecution]int), lanes: make(map[warp]int),
		objects: make(map[mbarrierPlace]*object), shares: make(map[mbarrierPlace]unit),
		named: make(map[number]*barrierPhase), floored: -1}
	if !p.Needs(trace.Wait, trace.Copy, trace.BulkLoad, trace.BulkStore, trace.GroupMultiply,
		trace.TensorMultiply) {
		m.most /= 4 // a few iterations suffice if there are only barriers
	}
	for _, t := range s {
		for w := range value.MaxThreads / 32 {
			if t.Threads.Lanes(w) == 0 {
				continue
			}
			var lanes value.Set
			lanes[w/2] = uint64(t.Threads.Lanes(w)) << (w % 2 * 32)
			m.agents = append(m.agents,
				&agent{id: len(m.agents), block: t.Rank, warp: w, threads: lanes, t: t})
		}
	}
	// Single lanes run first, because they may leave the rest of their warp behind.
	slices.SortStableFunc(m.agents, func(a, b *agent) int {
		return a.threads.Len() - b.threads.Len()
	})
	for i, a := range m.agents {
		a.id = i
		m.lanes[a.home()]++
		a.clock = m.clock()
	}
	for _, a := range m.agents {
		a.apart = m.lanes[a.home()] > 1
		a.idle = freeList.idle(p, a.t, a.apart)
	}
	return m
}

// most limits the work on one kernel at default effort: some tenths of a second. One unit is about
// the cost of following one instruction.
const (
	most    = 5_000_000
	perStep = 8
	perMove = 16 // work of executing an event
)

// bound returns the work limit of a kernel, which is larger if blocks of a cluster are simulated.
func bound(p *verify.Pass) int { return most * p.Effort() * max(1, p.Ranks/4) }

// run lets every agent run as far as it can. It completes asynchronous operations only when no
// agent can continue. It returns the agents that are stuck at the end.
func (m *machine) run() (stuck []*agent, ok bool) {
	for {
		moved := false
		for _, a := range m.agents {
			for !a.left && m.step(a) {
				moved = true
				if *m.work += perMove; *m.work > m.most {
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

// complete completes the oldest asynchronous operation that is able to complete.
func (m *machine) complete() bool {
	for i, c := range m.due {
		if c.ready == nil || c.ready() {
			m.due = slices.Delete(m.due, i, i+1)
			c.run()
			return true
		}
	}
	return false
}

// object creates the state of an mbarrier.
func (m *machine) object(at mbarrierPlace, o object) *object {
	o.number = m.made
	m.made++
	m.changed++
	m.objects[at] = &o
	return &o
}

// A warp identifies a warp in a block of the cluster.
type warp struct{ block, number int }

// home returns the warp of an agent.
func (a *agent) home() warp { return warp{a.block, a.warp} }

// A jointExecution identifies the nth execution of an operation that the four warps of a warpgroup
// execute together.
type jointExecution struct {
	in    *ir.Instr
	time  int
	group warp
}

// new returns a new asynchronous operation. The warps of a warpgroup share one, because existing
// code lets one of them release for all (W4 reports it).
func (m *machine) new(a *agent, e *trace.Event) *operation {
	if e.Kind == trace.GroupMultiply {
		if a.times == nil {
			a.times = make(map[*ir.Instr]int)
		}
		a.times[e.In]++
		k := jointExecution{e.In, a.times[e.In], warp{a.block, a.warp / 4}}
		id, begun := m.joints[k]
		if !begun {
			m.next++
			id = m.next
			m.joints[k] = id
		}
		return m.freeList.operation(operation{id: id, e: whole(a), by: a})
	}
	m.next++
	return m.freeList.operation(operation{id: m.next, e: whole(a), by: a})
}

// scale returns the factor by which tx counts each byte.
func (o *object) scale() int64 { return max(1, o.copies) }

// arrive adds arrivals to an mbarrier, with the clock of the arriving agent.
func (o *object) arrive(n int64, c *clock, e *trace.Event) {
	o.gather(c)
	o.last = e
	o.pending -= n
	o.flip()
}

// gather joins a clock into the clock that agents acquire when they wait for the phase.
func (o *object) gather(c *clock) {
	if o.gathering == nil {
		o.gathering = c.clone()
	} else {
		o.gathering.join(c)
	}
}

// flip completes the phase if no arrivals and no bytes are pending.
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
