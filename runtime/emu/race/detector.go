// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Detector observes launches and detects races. Its zero value is ready for use. It is not safe
// for concurrent use.
type Detector struct {
	launch  *emu.Launching
	perWarp int // warps per block

	threads  []thread
	blocks   []block
	clusters []barrier
	gone     map[uint32]departure   // by warp
	matrix   map[uint32]*agentCount // agents of wgmma, by warp
	tensor   map[uint32]*agentCount // agents of tcgen05 operations, by thread
	moves    map[moveKey]*agentCount
	// the agents of tensor and moves
	tensorAgents []uint32
	agents       uint32 // number of agents
	previous     uint32 // the agent that represents earlier launches

	shadow   shadow
	barriers map[key]*mbarrier

	completing map[uint32]*mbarrier // by the agent of the operations that complete on them
	strong     map[strongKey]*variable
	flags      map[strongKey]bool // places where earlier launches of the chain released
	ops        map[opKey]*operation

	serial  uint32 // number of events
	reports []*Race
	seen    map[raceKey]*Race
	cache   joinCache
	reached map[*ir.Instr]bool
	lines   map[int]bool // PTX lines that were reached

	executed  map[*ir.Instr][]uint32 // lanes that executed a weak store, by warp
	waiting   []unused               // races that depend on which stores are executed
	isWaiting map[unusedKey]bool
	users     map[*ir.Instr][]*ir.Instr // by load: the stores that use its value
	after     map[[2]*ir.Instr]bool     // for the method follows
	data      map[*ir.Instr]bool        // for the method isData

	idle     bool // the current launch has too many threads to be checked
	skipped  int
	launches uint32 // so far
	oldest   uint32 // first launch that griddepcontrol.wait covers
	waited   bool   // the launch executed griddepcontrol.wait
	// a thread executed a fence of device scope
	fences bool
	// some fence of device scope is neither fence.sc nor membar
	acquireRelease bool
	// the operation whose access is checked, or nil for an access of a thread
	issuer *operation
}

// MaxThreads is the maximum number of threads of a launch for which races are detected.
const MaxThreads = 1 << 17

// A key identifies an mbarrier or a location with strong accesses.
type key struct {
	space isa.Space
	block uint32
	at    uint64
}

// A thread is the state that the detector keeps for a thread of the launch.
type thread struct {
	view
	released view      // view at its last releasing fence
	scope    isa.Scope // scope of that fence
	pending  []release // releases read by relaxed loads, to be acquired by a fence
	issued   [slots]uint32
	// for cp.async, bulk and wgmma: operations that were issued when each group was closed
	groups [3][]uint32
	narrow []uint32 // blocks whose releases it read with a scope that is too narrow
	handed clock    // completed operations that relaxed arrivals have announced to it
	// its last wait, if this wait completed on a phase for which the thread had already waited
	repeated *ir.Instr
	untrue   *ir.Instr // its last wait, if it returned false
	// by thread: the latest flag of this thread that it has read without an acquire
	seen    map[uint32]stamp
	mapped  bool    // has acquired for the tensor map proxy
	fenced  view    // view at its last tcgen05.fence::after_thread_sync
	proxied [2]view // at its last proxy fence for shared and for global memory
	// the site of its last access or arrival at a barrier, plus 1, and whether it has arrived at a
	// barrier of all threads
	last uint32
	met  bool
}

// An agentCount is an agent with the number of its operations, which complete in order.
type agentCount struct {
	agent, issued uint32
	groups        []uint32
}

// A block is the state that the detector keeps for a thread block.
type block struct {
	barriers map[uint32]*barrier
	live     int
	ended    bool
	remote   map[uint32]stamp // last accesses from other blocks
}

// A barrier is a named barrier of a block, or the barrier of a cluster.
type barrier struct {
	arrived, met sum
	// of a named barrier: arrivals of the current phase, the last one, and whether it names the
	// number of threads
	count   int
	last    stamp
	counted bool
}

// A release is the view that a strong write of a block makes available to the threads that acquire
// it.
type release struct {
	all   clock
	block uint32
	scope isa.Scope
}

// New returns a detector.
func New() *Detector { return &Detector{} }

// begin resets the state for a launch.
func (d *Detector) begin(l *emu.Launching) {
	d.decide()
	d.executed, d.waiting, d.isWaiting = nil, nil, nil
	d.launch = l
	d.perWarp = (l.Threads + eval.Lanes - 1) / eval.Lanes
	n := l.Blocks * d.perWarp * eval.Lanes
	if d.idle = n > MaxThreads; d.idle {
		d.skipped++
		return
	}
	if n <= cap(d.threads) { // as large as the launch before
		d.threads = d.threads[:n]
		clear(d.threads)
	} else {
		d.threads = make([]thread, n)
	}
	d.blocks = make([]block, l.Blocks)
	d.clusters = make([]barrier, l.Blocks/max(1, l.Cluster)+1)
	d.matrix, d.tensor = make(map[uint32]*agentCount), make(map[uint32]*agentCount)
	d.gone, d.completing = make(map[uint32]departure), make(map[uint32]*mbarrier)
	d.moves, d.tensorAgents = make(map[moveKey]*agentCount), nil
	d.keepFlags(l.Launch.Programmatic)
	d.barriers, d.strong = make(map[key]*mbarrier), make(map[strongKey]*variable)
	d.ops = make(map[opKey]*operation)
	d.cache = joinCache{}
	if d.seen == nil {
		d.seen = make(map[raceKey]*Race)
		d.reached, d.lines = make(map[*ir.Instr]bool), make(map[int]bool)
	}
	d.agents = uint32(n*slots) + 1
	was := d.previous
	d.previous = uint32(n * slots)
	d.follow(l.Launch.Programmatic)
	d.shadow.clear(l.Launch.Programmatic, was, d.previous, epochOf(d.launches-1))
	for i := range d.threads {
		t := &d.threads[i]
		t.thread = uint32(i)
		t.own[slotMain] = 1
	}
}

// follow records the position of a launch in its chain of dependent launches. griddepcontrol.wait
// covers the preceding launch, and the launch before that only if the preceding launch also waited.
func (d *Detector) follow(programmatic bool) {
	switch d.launches++; {
	case !programmatic:
		d.oldest = d.launches
	case !d.waited:
		d.oldest = d.launches - 1
	}
	d.waited = false
}

// keepFlags keeps the locations at which a launch released, if the next launch may overlap this
// one.
func (d *Detector) keepFlags(programmatic bool) {
	if !programmatic || d.flags == nil {
		d.flags = make(map[strongKey]bool)
	}
	for k, x := range d.strong {
		if programmatic && k.space == isa.Global && len(x.sums) > 0 {
			d.flags[k] = true
		}
	}
}

// epochOf returns the epoch of the accesses of a launch. Later launches have smaller epochs,
// because a wait covers the last launches of a chain.
func epochOf(launch uint32) uint32 { return math.MaxUint32 - launch }

// Observe processes the next event.
func (d *Detector) Observe(e *emu.Event) {
	if d.idle && e.Kind != emu.EventBegin {
		return
	}
	d.serial++
	switch e.Kind {
	case emu.EventBegin:
		d.begin(e.Launch)
	case emu.EventRead, emu.EventWrite, emu.EventAtomic:
		d.access(e)
	case emu.EventStart:
		d.blocks[e.Block].live += count(e.Mask)
	case emu.EventExit:
		d.exit(e)
	case emu.EventIssue:
		d.issue(e)
	case emu.EventComplete:
		d.complete(e)
	case emu.EventCommit:
		d.commit(e)
	case emu.EventWait:
		d.wait(e)
	case emu.EventFence:
		d.fence(e)
	case emu.EventProxyFence:
		d.proxyFence(e)
	case emu.EventWarpSync:
		d.warpSync(e)
	case emu.EventPartial:
		d.partial(e)
	case emu.EventArrive:
		d.arrive(e)
	case emu.EventMeet:
		b := d.barrier(e.Block, e.Number)
		d.meet(e, b)
		b.met, b.arrived = b.arrived, sum{}
	case emu.EventLeave:
		d.leave(e, &d.barrier(e.Block, e.Number).met)
	case emu.EventClusterArrive:
		d.clusterArrive(e)
	case emu.EventClusterMeet:
		b := d.clusterOf(e.Block)
		b.met, b.arrived = b.arrived, sum{}
	case emu.EventClusterLeave:
		d.lanes(e, func(_ int, t *thread) { t.begun = true })
		d.leave(e, &d.clusterOf(e.Block).met)
	case emu.EventInit, emu.EventInval, emu.EventSignal, emu.EventPhase, emu.EventTest:
		d.mbarrier(e)
	case emu.EventUntrue:
		d.lanes(e, func(_ int, t *thread) { t.untrue = e.Instr })
	case emu.EventDependents:
		d.dependents(e)
	case emu.EventTensor:
		d.tensorEvent(e)
	}
}

// count returns the number of lanes of a mask.
func count(mask uint32) (n int) {
	for ; mask != 0; mask &= mask - 1 {
		n++
	}
	return n
}

// threadOf returns the thread of a lane.
func (d *Detector) threadOf(block, warp uint32, lane int) *thread {
	return &d.threads[(int(block)*d.perWarp+int(warp))*eval.Lanes+lane]
}

// blockOf returns the block of a thread.
func (d *Detector) blockOf(thread uint32) uint32 { return thread / uint32(d.perWarp*eval.Lanes) }

// clusterOf returns the barrier of the cluster that a block belongs to.
func (d *Detector) clusterOf(block uint32) *barrier { return &d.clusters[d.clusterIndex(block)] }

// clusterIndex returns the index of the cluster that a block belongs to.
func (d *Detector) clusterIndex(block uint32) uint32 {
	l := d.launch.Launch
	if l.Cluster[0] == 0 {
		return block
	}
	gx, gy := l.Grid[0], l.Grid[1]
	x, y, z := block%gx, block/gx%gy, block/gx/gy
	cx, cy, cz := l.Cluster[0], l.Cluster[1], l.Cluster[2]
	return x/cx + (gx/cx)*(y/cy+(gy/cy)*(z/cz))
}

// barrier returns the state of a barrier of a block.
func (d *Detector) barrier(block, number uint32) *barrier {
	k := &d.blocks[block]
	if k.barriers == nil {
		k.barriers = make(map[uint32]*barrier)
	}
	b := k.barriers[number]
	if b == nil {
		b = &barrier{}
		k.barriers[number] = b
	}
	return b
}

// Reached reports whether an instruction on a PTX line performed an access or an operation.
func (d *Detector) Reached(line int) bool { return d.lines[line] }

// reach records that an instruction was executed, for Reached.
func (d *Detector) reach(in *ir.Instr) {
	if in == nil || d.reached[in] {
		return
	}
	d.reached[in] = true
	if at := d.launch.Place(in); at.IsValid() {
		d.lines[at.Line] = true
	}
}

// Events returns how many events the detector has received.
func (d *Detector) Events() uint64 { return uint64(d.serial) }

// Skipped returns the number of launches that were too large to be checked.
func (d *Detector) Skipped() int { return d.skipped }

// Races returns the races in the order in which they were found. Races of loads whose values are
// used by no instruction that was executed are left out.
func (d *Detector) Races() []*Race {
	d.decide()
	return d.reports
}
