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

// An agent is a set of lanes of one warp that execute the same trace.
type agent struct {
	id        int
	block     int
	warp      int
	threads   value.Set
	splitWarp bool // other lanes of the warp are other agents
	t         *trace.Trace
	idle      []bool // which events of t are idle; see idleEvents
	at        int
	clock     *clock
	// Operations in groups for which the agent itself waits: wgmma operations, bulk stores, and
	// operations that the next tcgen05.commit tracks.
	wgmma, bulk, copies []*operation
	current             trace.Event // the current event, restricted to the threads of the agent
	active              value.Set   // the threads of current
	waiting             bool        // the agent is already counted at a barrier
	awaits              awaitedMbarriers
	phase               int // phase of the cluster barrier at which the agent arrived
	passed              map[*mbarrier]*waitHistory
	// phase of each mbarrier arrival, by the state that the arrival returned
	tokens         map[*value.Value]int
	times          map[*ir.Instr]int // number of executions of each warpgroup operation
	fences         []fence
	fenceProgress  []int        // clock at the last memory fence; see recordFlag
	polls          []flagAccess // flags loaded since that fence
	exited         bool
	lastExecutions map[*ir.Instr]int // index of the last event for each warp-wide instruction
	// end of the events that precede the next warp-wide instruction
	warpWideEnd int
}

// A waitHistory summarizes the waits of an agent for one mbarrier: the number of completed waits,
// and the last phase that is certainly complete. stale is the last wait if it completed no new
// phase, or nil.
type waitHistory struct {
	waits, phase int
	stale        *trace.Event
}

// awaitedMbarriers holds the mbarriers of the wait at which an agent is blocked.
type awaitedMbarriers struct {
	at      int // index of the event after the wait
	changes int // value of machine.changed when list was computed
	list    []target
	parity  int64 // phase parity that the wait names, or -1
}

// An operation is an asynchronous operation in flight.
type operation struct {
	id     int
	e      *trace.Event
	by     *agent
	groups int
}

// An mbarrierPlace is the location of an mbarrier: its block in the cluster, and its address
// there.
type mbarrierPlace struct {
	block int
	verify.Object
}

// An mbarrier is the state of an mbarrier.
type mbarrier struct {
	number   int // index in the order of initialization
	count    int64
	pending  int64
	tx       int64
	phases   int // number of completed phases
	arriving *clock
	released []*clock // for each completed phase, the clock of its arrivals
	arrivers [2][]int // agents that arrived in the current and in the preceding phase
	copyShare
	init *trace.Event
	last *trace.Event // last event that arrived
}

// A copyShare is the assumed size of one copy of unknown size that completes on an mbarrier.
type copyShare struct {
	bytes  int64 // assumed bytes of a copy, in units of tx; 0 if sizes are known
	copies int64 // number of copies of unknown size; tx counts each byte this many times
}

// An access is a memory access by an agent or by an asynchronous operation.
type access struct {
	e         *trace.Event
	by        *agent
	when      int // progress of the agent after the access
	operation int // 0 if a thread itself makes the access
	write     bool
	tensor    bool
	block     int // block that owns the memory
	region    memory.Region
	core      *memory.Region // the certain part of region, or nil if all of it is certain
	number    int            // index in the order of recording
	lanes     verify.Lanes   // lanes of tensor memory
	progress  []int          // clock of the agent, if the kernel has flags
}

// A machine simulates one combination of traces, called a scene: one trace for each thread of the
// block or cluster.
type machine struct {
	outcomes *outcomes // outcomes of all scenes

	p          *verify.Pass
	agents     []*agent
	mbarriers  map[mbarrierPlace]*mbarrier
	created    int // mbarriers created, including several at one address
	changed    int // number of initializations and invalidations
	copyShares map[mbarrierPlace]copyShare
	named      map[barrierID]*barrierPhase
	cluster    clusterBarrier
	loads      []*operation   // copies into shared memory
	due        []*completion  // asynchronous operations in flight, in order of issue
	indexes    []*accessIndex // one index for each accessed base address
	freeList   *freeList
	// Lists of regions, targets and blocks whose memory is reused.
	regions       []memory.Region
	targetList    []target
	blockList     []int
	numAccesses   int   // number of accesses
	barriers      int   // number of completed thread barriers
	joins         int   // number of times that an agent's clock was extended
	floorJoins    int   // value of joins when floor was computed
	floor         []int // for each agent, the progress that all other clocks contain
	lastOperation int
	joints        map[jointExecution]int
	lanes         map[warp]int    // number of agents of each warp
	asyncRegions  []memory.Region // memory that asynchronous operations access
	doubts        []doubt
	idle          []doubt // races with copies in a launch without work
	missingWaits  findingsByWait
	flags         *flags
	// released and acquired are the accesses to flags, and suspects are races that the flags may
	// make impossible.
	released, acquired []flagAccess
	suspects           []suspect
	// signalled holds arrivals of commits in other blocks.
	signalled     []signal
	comparesPlain bool // plain accesses are compared with each other
	work          *int // work done on the kernel so far, in comparisons and steps
	maxWork       int  // limit of work
}

// A completion is the effect that an asynchronous operation has when it completes.
type completion struct {
	run   func()
	ready func() bool
}

func newMachine(p *verify.Pass, s []*trace.Trace, work *int, freeList *freeList) *machine {
	freeList.reset()
	m := &machine{p: p, work: work, freeList: freeList, maxWork: workLimit(p),
		joints: make(map[jointExecution]int), lanes: make(map[warp]int),
		mbarriers: make(map[mbarrierPlace]*mbarrier), copyShares: make(map[mbarrierPlace]copyShare),
		named: make(map[barrierID]*barrierPhase), floorJoins: -1}
	if !p.Needs(trace.Wait, trace.Copy, trace.BulkLoad, trace.BulkStore, trace.GroupMultiply,
		trace.TensorMultiply) {
		m.maxWork /= 4 // a few iterations suffice if there are only barriers
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
	// Agents with few lanes run first, because they may run ahead of the other lanes of their
	// warp.
	slices.SortStableFunc(m.agents, func(a, b *agent) int {
		return a.threads.Len() - b.threads.Len()
	})
	for i, a := range m.agents {
		a.id = i
		m.lanes[a.home()]++
		a.clock = m.newClock()
	}
	for _, a := range m.agents {
		a.splitWarp = m.lanes[a.home()] > 1
		a.idle = freeList.idleEvents(p, a.t, a.splitWarp)
	}
	return m
}

// maxKernelWork limits the work on one kernel at default effort, to some tenths of a second. One
// unit is about the cost of tracing one instruction.
const (
	maxKernelWork = 5_000_000
	workPerStep   = 8
	workPerEvent  = 16 // work of executing an event
)

// workLimit returns the work limit of a kernel, which is larger if blocks of a cluster are
// simulated.
func workLimit(p *verify.Pass) int { return maxKernelWork * p.Effort() * max(1, p.Ranks/4) }

// run executes every agent as far as possible. It completes asynchronous operations only when no
// agent can continue. It returns the agents that are still blocked at the end; ok is false if the
// work limit is exceeded.
func (m *machine) run() (stuck []*agent, ok bool) {
	for {
		moved := false
		for _, a := range m.agents {
			for !a.exited && m.step(a) {
				moved = true
				if *m.work += workPerEvent; *m.work > m.maxWork {
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
			if !a.exited {
				stuck = append(stuck, a)
			}
		}
		return stuck, true
	}
}

// complete completes the oldest asynchronous operation that is able to complete. It returns false
// if no operation is.
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

// newMbarrier creates the state of an mbarrier.
func (m *machine) newMbarrier(at mbarrierPlace, o mbarrier) *mbarrier {
	o.number = m.created
	m.created++
	m.changed++
	m.mbarriers[at] = &o
	return &o
}

// A warp identifies a warp in a block of the cluster.
type warp struct{ block, number int }

// home returns the warp of an agent.
func (a *agent) home() warp { return warp{a.block, a.warp} }

// A jointExecution identifies the execution number time of an operation that the four warps of a
// warpgroup execute together.
type jointExecution struct {
	in    *ir.Instr
	time  int
	group warp
}

// newOperation creates the asynchronous operation of event e. The warps of a warpgroup share one
// operation number, because existing kernels let one warp release memory for all four (W4 reports
// this).
func (m *machine) newOperation(a *agent, e *trace.Event) *operation {
	if e.Kind == trace.GroupMultiply {
		if a.times == nil {
			a.times = make(map[*ir.Instr]int)
		}
		a.times[e.In]++
		k := jointExecution{e.In, a.times[e.In], warp{a.block, a.warp / 4}}
		id, begun := m.joints[k]
		if !begun {
			m.lastOperation++
			id = m.lastOperation
			m.joints[k] = id
		}
		return m.freeList.operation(operation{id: id, e: currentEvent(a), by: a})
	}
	m.lastOperation++
	return m.freeList.operation(operation{id: m.lastOperation, e: currentEvent(a), by: a})
}

// scale returns the number of units of tx per byte.
func (o *mbarrier) scale() int64 { return max(1, o.copies) }

// arrive counts n arrivals on the mbarrier and merges the arriving agent's vector clock into the
// clock of the current phase.
func (o *mbarrier) arrive(n int64, c *clock, e *trace.Event) {
	o.joinClock(c)
	o.last = e
	o.pending -= n
	o.completePhase()
}

// joinClock merges a clock into the clock that agents acquire when they wait for the current
// phase.
func (o *mbarrier) joinClock(c *clock) {
	if o.arriving == nil {
		o.arriving = c.clone()
	} else {
		o.arriving.join(c)
	}
}

// completePhase completes the phase if no arrivals and no bytes are pending.
func (o *mbarrier) completePhase() {
	if o.pending > 0 || o.tx != 0 || o.arriving == nil {
		return
	}
	if o.phases > 0 {
		o.arriving.join(o.released[o.phases-1])
	}
	o.arriving.addPhase(o, o.phases)
	o.released = append(o.released, o.arriving)
	o.arriving = nil
	o.phases++
	o.pending += o.count
	o.arrivers = [2][]int{nil, o.arrivers[0]}
}
