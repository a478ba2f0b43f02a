// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"sort"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// reads records the shared memory that an asynchronous operation reads.
func (m *machine) reads(a *agent, e *trace.Event, operation int) {
	m.regions = m.p.AppendReads(m.regions[:0], e)
	for _, r := range m.regions {
		m.note(m.wide(&access{e: e, by: a, when: a.at + 1, operation: operation, block: a.block,
			region: r}))
		if m.p.Ranks > 1 && e.Kind != trace.GroupMultiply && e.In.HasMod(isa.ModCTAGroup2) {
			m.note(m.wide(&access{e: e, by: a, when: a.at + 1, operation: operation,
				block: a.block ^ 1, region: r}))
		}
	}
}

// wide returns an access of a tensor copy with its apparent size.
func (m *machine) wide(x *access) *access {
	if x.e.Kind != trace.BulkLoad && x.e.Kind != trace.BulkStore || !verify.Tensor(x.e.In) {
		return x
	}
	if n, ok := m.p.Extent(x.e); ok && n > x.region.Bytes {
		core := x.region
		x.core, x.region = &core, core.Grown(n)
	}
	return x
}

// note records an access, after it compares it with the earlier accesses that must precede it.
func (m *machine) note(x *access) {
	if !m.plain && !x.engine() && !m.near(x) {
		return
	}
	x.e = whole(x.by)
	if m.flags.used() {
		x.knows = slices.Clone(x.by.clock.agents)
	}
	r := m.accessIndex(x)
	if r.near(&x.region, !x.write, func(s *bucket) bool { return m.against(s, x) }) {
		return
	}
	if x.operation > 0 && !x.write && !x.tensor {
		r.near(&x.region, true, func(s *bucket) bool { return m.unfenced(r, s, x) })
	}
	in := row(x.region.High - x.region.Low)
	at, high := span(&x.region, in)
	if x.e.Kind == trace.GroupMultiply && r.at(in, at).shares(x) {
		return
	}
	m.noted++
	x.number = m.noted
	kept := m.freeList.access(x)
	r.written[in] = r.written[in] || x.write
	for ; at <= high; at++ {
		m.keep(r.at(in, at), kept)
	}
}

// shares reports whether another warp of the warpgroup made the same access as part of the same
// operation. One of them represents all, because they complete together.
func (s *bucket) shares(x *access) bool {
	return slices.ContainsFunc(s.agentLists, func(p *agentList) bool {
		n := len(p.bound.all)
		if n == 0 {
			return false
		}
		y := p.bound.all[n-1]
		return y.operation == x.operation && y.region.Low == x.region.Low &&
			y.region.High == x.region.High
	})
}

// near reports whether an async operation accesses memory near the memory that a thread accesses.
func (m *machine) near(x *access) bool {
	for _, r := range m.engines {
		if r.Root == x.region.Root && r.Low < x.region.High && x.region.Low < r.High {
			return true
		}
	}
	return false
}

// against reports the first access of a bucket that must be ordered before a new one but is not.
func (m *machine) against(s *bucket, x *access) bool {
	*m.work += (len(s.agentLists) + 3) / 4 // most lists are skipped immediately
	for _, p := range s.agentLists {
		// An agent's own accesses have completed up to the progress that the new access knows of.
		if own := p.own.facing(x); p.by != x.by && (x.engine() || p.by.home() != x.by.home()) {
			known := x.by.clock.agents[p.by.id]
			for _, y := range own[sort.Search(len(own), func(i int) bool {
				return own[i].when > known
			}):] {
				if m.collide(y, x) {
					return true
				}
			}
		}
		for _, y := range p.bound.facing(x) {
			if m.collide(y, x) {
				return true
			}
		}
	}
	return false
}

// collide reports an access that must be ordered before a new one but is not.
func (m *machine) collide(y, x *access) bool {
	*m.work++
	switch {
	case y.region.High <= x.region.Low || x.region.High <= y.region.Low || m.ordered(y, x):
		return false
	case !x.engine() && !y.engine() && (x.by.home() == y.by.home() || !m.racing(x, y)):
		return false
	case x.tensor && !x.lanes.Meets(y.lanes): // both are in tensor memory, which has separate roots
		return false
	case x.moves() && y.moves() && x.by.home() == y.by.home():
		return false
	case y.by == x.by && y.e.Kind == trace.BulkStore:
		return false // reported as A8
	case adds(x.e) && adds(y.e):
		return false // both are atomic, and may happen in any order
	case x.e.Kind == trace.TensorFree && y.operation == 0 && x.by.home() == y.by.home():
		return false // the same warp accesses the columns and then frees them
	}
	*m.work += 40
	if sure, _ := y.region.Meets(&x.region); !sure {
		return false
	}
	m.race(y, x)
	return true
}

// racing reports whether two accesses of threads must be ordered: both are plain, or one is plain
// and the other atomic.
//
// A volatile access does not order others either, unless it is to a flag.
func (m *machine) racing(x, y *access) bool {
	if xv, yv := volatile(x.e), volatile(y.e); xv || yv {
		if m.flags.flag(x) || m.flags.flag(y) {
			return false
		}
		return (xv || plain(x.e) || loose(x.e)) && (yv || plain(y.e) || loose(y.e))
	}
	return plain(x.e) && (plain(y.e) || loose(y.e)) || loose(x.e) && plain(y.e)
}

// volatile reports whether an access is a volatile one that certainly executes.
func volatile(e *trace.Event) bool {
	return e.Kind != trace.Atomic && e.Guard == nil && e.In.HasMod(isa.ModVolatile)
}

// loose reports whether an access is atomic but does not order threads.
func loose(e *trace.Event) bool {
	return e.Kind == trace.Atomic && e.Guard == nil &&
		!e.In.HasMod(isa.ModAcquire, isa.ModRelease, isa.ModAcqRel)
}

// plain reports whether an access does not order threads.
func plain(e *trace.Event) bool {
	return e.Kind != trace.Atomic && e.Guard == nil && weak(e.In)
}

// weak reports whether a load or store is neither volatile nor ordered.
func weak(in *ir.Instr) bool {
	if in.HasMod(isa.ModVolatile, isa.ModRelaxed, isa.ModAcquire, isa.ModRelease, isa.ModAcqRel,
		isa.ModMMIO) {
		return false
	}
	return in.Kind() != isa.KindAtom && in.Kind().Head() != isa.HeadRed
}

// adds reports whether an access is an asynchronous reduction to memory of another block.
func adds(e *trace.Event) bool {
	return e.Kind == trace.RemoteStore && e.In.Kind().Head() == isa.HeadRed
}

// engine reports whether an access is made by the async proxy or by a tensor core.
func (x *access) engine() bool { return x.operation > 0 || x.tensor }

// moves reports whether an access is a load or store of tensor memory. These access only the lanes
// of their own warp.
func (x *access) moves() bool {
	return x.e.Kind == trace.TensorLoad || x.e.Kind == trace.TensorStore
}

// ordered reports whether y has certainly completed when x starts.
func (m *machine) ordered(y, x *access) bool {
	k := x.by.clock
	if y.operation > 0 {
		if k.knows(y.operation) {
			return true
		}
		// Operations of one kind by one thread are executed in order.
		return x.operation > 0 && y.by == x.by &&
			(y.e.Kind == x.e.Kind || y.e.Kind == trace.BulkLoad && x.e.Kind == trace.BulkLoad)
	}
	return y.by == x.by || k.agents[y.by.id] >= y.when
}

// race reports two unordered accesses.
func (m *machine) race(y, x *access) {
	severity := diag.Error
	if m.lanes[x.by.home()] > 1 || m.lanes[y.by.home()] > 1 {
		severity = diag.Review // diverged lanes of a warp may happen to be converged
	}
	sure, _ := y.least().Meets(x.least())
	if !sure {
		severity = diag.Review // based on the apparent size of a tile
	}
	switch {
	case !x.engine() && !y.engine():
		m.threadRace(y, x, severity)
	case m.p.Subsumed(&engineRaces):
	case x.e.Kind == trace.TensorFree || y.e.Kind == trace.TensorFree:
		m.freed(y, x, severity)
	case m.staleRace(y, x):
	default:
		m.engineRace(y, x, severity, sure)
	}
}

// threadRace reports two unordered accesses of threads.
func (m *machine) threadRace(y, x *access, severity diag.Severity) {
	copied := x.e.Kind == trace.Copy || y.e.Kind == trace.Copy
	if copied && m.p.Subsumed(&copyRaces) {
		return
	}
	if m.p.Needs(trace.Wait) && (len(x.by.passed) > 0 || len(y.by.passed) > 0) {
		m.reused(y, x, copied, severity)
		return
	}
	if same(x, y) {
		return
	}
	if m.flags.used() {
		one := suspect{y: *y, x: *x}
		one.report = func() { m.plainly(&one.y, &one.x) }
		m.suspects = append(m.suspects, one)
		return
	}
	m.plainly(y, x)
}

// reused reports two unordered accesses of threads to memory that a ring of mbarriers protects: a
// stage is reused too early.
func (m *machine) reused(y, x *access, copied bool, severity diag.Severity) {
	if m.p.Subsumed(&slotRaces) {
		return
	}
	if !copied {
		severity = diag.Review
	}
	f := m.p.Report(&ruleLap, x.e.In, "shared-memory race: %s %s shared memory that %s %s; "+
		"nothing orders the two accesses", m.who(x.by), did(x), m.who(y.by), did(y)).
		As(severity).Also(y.e.In, "the other access").On(x.by.t, x.by.at)
	m.lapsed(x.by, f)
}

// staleRace reports whether an agent of two accesses has waited for the same phase twice, which it
// then reports as the cause.
func (m *machine) staleRace(y, x *access) bool {
	for _, a := range []*agent{x.by, y.by} {
		if stale := a.stale(); stale != nil {
			m.p.Report(&ruleParity, stale.In, parityKept).
				Also(x.e.In, "%s %s %s after this wait", name(x.e), did(x), where(x)).
				Also(y.e.In, "while %s %s it", name(y.e), did(y)).On(a.t, a.at)
			return true
		}
	}
	return false
}

// engineRace reports two unordered accesses, at least one of which is made by the async proxy or by
// a tensor core. sure says that they certainly overlap.
func (m *machine) engineRace(y, x *access, severity diag.Severity, sure bool) {
	rule := &ruleLap
	switch {
	case x.e.Kind == trace.TensorLoad && y.e.Kind == trace.TensorMultiply:
		rule = &ruleResult
	case x.operation > 0 && !x.write && !x.tensor && y.operation == 0 && y.write &&
		y.executions() == x.executions():
		// A fence would not help: the data of this iteration is read without a barrier in between.
		rule = &ruleProxy
	}
	f := m.p.Report(rule, x.e.In, "missing wait: %s %s %s while %s %s it; nothing orders the two",
		name(x.e), did(x), where(x), name(y.e), did(y)).
		As(severity).Also(y.e.In,
		"the other access; it may still be in flight when this access starts").
		On(x.by.t, x.by.at)
	m.lapsed(x.by, f)
	if severity == diag.Error && y.operation > 0 && y.e.Kind == trace.BulkLoad &&
		x.by.t.Facts.Empty() {
		m.idle = append(m.idle, doubt{f, *y, x.by.home()})
	}
	if severity == diag.Review && sure && (y.operation > 0 || m.lanes[y.by.home()] == 1) {
		m.doubts = append(m.doubts, doubt{f, *y, x.by.home()})
	}
}

// where describes the memory of an access, for messages.
func where(x *access) string {
	if x.tensor {
		return "tensor memory"
	}
	return "shared memory"
}

// plainly reports two unordered accesses of threads once, at the access that comes later in the
// text.
func (m *machine) plainly(y, x *access) {
	if x.e.In.Pos < y.e.In.Pos {
		x, y = y, x
	}
	f := m.p.Report(&rulePlain, x.e.In, "shared-memory race: %s %s shared memory that %s %s, "+
		"without a barrier in between", m.who(x.by), did(x), m.who(y.by), did(y)).
		Also(y.e.In, "the other access").On(x.by.t, x.by.at)
	switch {
	case !matters(x, y) && !matters(y, x) || m.flags.used():
		f.As(diag.Review)
	case m.p.Guessed:
		f.As(diag.Review).Message += fmt.Sprintf(", if blocks have %d threads", m.p.Pool.Threads)
	case m.p.Example(x.by.t, x.e, y.e):
		m.outcomes.race(f, x, y)
	}
}

// executions returns how many times the agent has executed the instruction of an access, including
// this time.
func (x *access) executions() int {
	n := 0
	for i := range x.by.t.Events[:min(x.when, len(x.by.t.Events))] {
		if x.by.t.Events[i].In == x.e.In {
			n++
		}
	}
	return n
}

// A doubt is a race that is reported as a review, because other lanes of the warp may know that the
// earlier access has completed.
type doubt struct {
	f  *verify.Finding
	y  access
	by warp
}

// doubtless turns doubts into errors if no lane of the warp ever synchronizes. Races with copies
// that are never waited for become reviews if the kernel has no work, because it may not be
// launched then.
func (m *machine) doubtless() {
	for _, d := range m.idle {
		if !slices.ContainsFunc(m.agents,
			func(a *agent) bool { return a.clock.knows(d.y.operation) }) {
			m.withValues(d.f.As(diag.Review))
		}
	}
	for _, d := range m.doubts {
		if !slices.ContainsFunc(m.agents,
			func(a *agent) bool { return a.home() == d.by && a.learned(&d.y) }) {
			d.f.As(diag.Error)
		}
	}
}

// learned reports whether an agent knows that an access has completed.
func (a *agent) learned(y *access) bool {
	if y.operation > 0 {
		return a.clock.knows(y.operation)
	}
	return y.by == a || a.clock.agents[y.by.id] >= y.when
}

// matters reports whether one access reads a value that the other writes and that differs between
// threads. If all threads write the same value, it does not matter which write is seen.
func matters(read, write *access) bool {
	if read.write || !write.write || read.e.Kind == trace.Atomic || write.e.Kind == trace.Atomic {
		return false
	}
	if write.e.Kind == trace.Copy {
		return true
	}
	v, held := stored(write)
	return held && (v == nil || v.Level() > value.Block || !v.Const() && write.e.Threads.Len() == 1)
}

// stored returns the value that a store writes, or nil if it is unknown, or false if it is an
// immediate.
func stored(x *access) (*value.Value, bool) {
	n := len(x.e.In.Args) - 1
	switch x.e.In.Args[n].Kind {
	case ir.Register:
		return verify.Val(x.e, n), true
	case ir.Vector:
		return nil, true
	}
	return nil, false
}

// same reports whether two stores write the same value in all threads, so that their order does not
// matter.
func same(x, y *access) bool {
	if x.e.Kind != trace.Store || y.e.Kind != trace.Store || x.region.Low != y.region.Low ||
		x.region.High != y.region.High {
		return false
	}
	v, _ := stored(x)
	w, _ := stored(y)
	return v != nil && v == w && v.Level() <= value.Block
}

// parityKept is the message for a wait that completes on an old phase.
const parityKept = "wrong phase parity: this wait completes on a phase that was already waited " +
	"for; the parity is not flipped between iterations"

// stale returns the first wait of an agent whose last execution completed no new phase.
func (a *agent) stale() (first *trace.Event) {
	for _, seen := range a.passed {
		if e := seen.stale; e != nil && (first == nil || e.In.Pos < first.In.Pos) {
			first = e
		}
	}
	return first
}

// freed reports tensor memory that is freed while it is in use.
func (m *machine) freed(y, x *access, severity diag.Severity) {
	free, use := x, y
	if y.e.Kind == trace.TensorFree {
		free, use = y, x
	}
	m.p.Report(&ruleFreed, free.e.In, "tensor memory is freed while another warp may use it; "+
		"nothing orders that use before the free").
		As(severity).Also(use.e.In, "the use").On(free.by.t, len(free.by.t.Events))
}

// who describes the warp of an agent, and its block if there are several.
func (m *machine) who(a *agent) string {
	if m.p.Ranks > 1 {
		return fmt.Sprintf("warp %d of block %d", a.warp, a.block)
	}
	return fmt.Sprint("warp ", a.warp)
}

// least returns the bytes that an access certainly touches.
func (x *access) least() *memory.Region {
	if x.core != nil {
		return x.core
	}
	return &x.region
}

func did(a *access) string {
	if a.write {
		return "writes"
	}
	return "reads"
}

// name describes an event.
func name(e *trace.Event) string {
	switch e.Kind {
	case trace.BulkLoad, trace.BulkStore:
		return "a bulk copy"
	case trace.GroupMultiply, trace.TensorMultiply:
		return "a tensor-core operation"
	case trace.TensorLoad:
		return "tcgen05.ld"
	case trace.TensorStore:
		return "tcgen05.st"
	}
	return e.In.Head()
}
