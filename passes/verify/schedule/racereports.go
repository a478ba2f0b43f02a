// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

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
