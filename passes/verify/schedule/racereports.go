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

// reportRace reports that the accesses y and x are unordered.
func (m *machine) reportRace(y, x *access) {
	severity := diag.Error
	if m.lanes[x.by.home()] > 1 || m.lanes[y.by.home()] > 1 {
		severity = diag.Review // diverged lanes of a warp may happen to be converged
	}
	sure, _ := y.certainRegion().Meets(x.certainRegion())
	if !sure {
		severity = diag.Review // the overlap depends on the apparent size of a tile
	}
	switch {
	case !x.isAsync() && !y.isAsync():
		m.reportThreadRace(y, x, severity)
	case m.p.Subsumed(&engineRaces):
	case x.e.Kind == trace.TensorFree || y.e.Kind == trace.TensorFree:
		m.reportFreed(y, x, severity)
	case m.reportStaleRace(y, x):
	default:
		m.reportAsyncRace(y, x, severity, sure)
	}
}

// reportThreadRace reports two unordered accesses by threads.
func (m *machine) reportThreadRace(y, x *access, severity diag.Severity) {
	copied := x.e.Kind == trace.Copy || y.e.Kind == trace.Copy
	if copied && m.p.Subsumed(&copyRaces) {
		return
	}
	if m.p.Needs(trace.Wait) && (len(x.by.passed) > 0 || len(y.by.passed) > 0) {
		m.reportReuse(y, x, copied, severity)
		return
	}
	if storeSameValue(x, y) {
		return
	}
	if m.flags.inUse() {
		one := suspect{y: *y, x: *x}
		one.report = func() { m.reportPlainRace(&one.y, &one.x) }
		m.suspects = append(m.suspects, one)
		return
	}
	m.reportPlainRace(y, x)
}

// reportReuse reports two unordered accesses by threads to a stage of a pipeline with mbarriers:
// the stage is reused too early.
func (m *machine) reportReuse(y, x *access, copied bool, severity diag.Severity) {
	if m.p.Subsumed(&slotRaces) {
		return
	}
	if !copied {
		severity = diag.Review
	}
	f := m.p.Report(&ruleLap, x.e.In, "shared-memory race: %s %s shared memory that %s %s; "+
		"nothing orders the two accesses", m.warpName(x.by), verbOf(x), m.warpName(y.by),
		verbOf(y)).
		As(severity).Also(y.e.In, "the other access").On(x.by.t, x.by.at)
	m.recordMissingWait(x.by, f)
}

// reportStaleRace reports the cause of a race, if it is a wait that completed on a phase that the
// agent had already waited for. It returns whether it made a finding.
func (m *machine) reportStaleRace(y, x *access) bool {
	for _, a := range []*agent{x.by, y.by} {
		if stale := a.staleWait(); stale != nil {
			m.p.Report(&ruleParity, stale.In, parityKept).
				Also(x.e.In, "%s %s %s after this wait", eventName(x.e), verbOf(x), memoryName(x)).
				Also(y.e.In, "while %s %s it", eventName(y.e), verbOf(y)).On(a.t, a.at)
			return true
		}
	}
	return false
}

// reportAsyncRace reports two unordered accesses, at least one of which the async proxy or a
// tensor core makes. sure is set if they certainly overlap.
func (m *machine) reportAsyncRace(y, x *access, severity diag.Severity, sure bool) {
	rule := &ruleLap
	switch {
	case x.e.Kind == trace.TensorLoad && y.e.Kind == trace.TensorMultiply:
		rule = &ruleResult
	case x.operation > 0 && !x.write && !x.tensor && y.operation == 0 && y.write &&
		y.executions() == x.executions():
		// A fence would not help: the data of this iteration is read with no barrier after the
		// write.
		rule = &ruleProxy
	}
	f := m.p.Report(rule, x.e.In, "missing wait: %s %s %s while %s %s it; nothing orders the two",
		eventName(x.e), verbOf(x), memoryName(x), eventName(y.e), verbOf(y)).
		As(severity).Also(y.e.In,
		"the other access; it may still be in flight when this access starts").
		On(x.by.t, x.by.at)
	m.recordMissingWait(x.by, f)
	if severity == diag.Error && y.operation > 0 && y.e.Kind == trace.BulkLoad &&
		x.by.t.Facts.Empty() {
		m.idle = append(m.idle, doubt{f, *y, x.by.home()})
	}
	if severity == diag.Review && sure && (y.operation > 0 || m.lanes[y.by.home()] == 1) {
		m.doubts = append(m.doubts, doubt{f, *y, x.by.home()})
	}
}

// memoryName returns the kind of memory of an access, for messages.
func memoryName(x *access) string {
	if x.tensor {
		return "tensor memory"
	}
	return "shared memory"
}

// reportPlainRace reports two unordered accesses by threads. The finding is at the access that
// comes later in the PTX text.
func (m *machine) reportPlainRace(y, x *access) {
	if x.e.In.Pos < y.e.In.Pos {
		x, y = y, x
	}
	f := m.p.Report(&rulePlain, x.e.In, "shared-memory race: %s %s shared memory that %s %s, "+
		"without a barrier in between", m.warpName(x.by), verbOf(x), m.warpName(y.by), verbOf(y)).
		Also(y.e.In, "the other access").On(x.by.t, x.by.at)
	switch {
	case !readsVaryingValue(x, y) && !readsVaryingValue(y, x) || m.flags.inUse():
		f.As(diag.Review)
	case m.p.Guessed:
		f.As(diag.Review).Message += fmt.Sprintf(", if blocks have %d threads", m.p.Pool.Threads)
	case m.p.Example(x.by.t, x.e, y.e):
		m.outcomes.addRace(f, x, y)
	}
}

// executions returns how many times the agent has executed the instruction of an access,
// including this access.
func (x *access) executions() int {
	n := 0
	for i := range x.by.t.Events[:min(x.when, len(x.by.t.Events))] {
		if x.by.t.Events[i].In == x.e.In {
			n++
		}
	}
	return n
}

// A doubt is a race that is reported as a review, because other lanes of warp by may be ordered
// after the earlier access y.
type doubt struct {
	f  *verify.Finding
	y  access
	by warp
}

// upgradeReviews turns doubts into errors if no lane of the warp is ever ordered after the
// earlier access. Races with copies that are never waited for become reviews if the launch has no
// work, because such a launch may not occur.
func (m *machine) upgradeReviews() {
	for _, d := range m.idle {
		if !slices.ContainsFunc(m.agents,
			func(a *agent) bool { return a.clock.hasCompleted(d.y.operation) }) {
			m.withValues(d.f.As(diag.Review))
		}
	}
	for _, d := range m.doubts {
		if !slices.ContainsFunc(m.agents,
			func(a *agent) bool { return a.home() == d.by && a.hasCompleted(&d.y) }) {
			d.f.As(diag.Error)
		}
	}
}

// hasCompleted reports whether an access has certainly completed before the current event of an
// agent.
func (a *agent) hasCompleted(y *access) bool {
	if y.operation > 0 {
		return a.clock.hasCompleted(y.operation)
	}
	return y.by == a || a.clock.agents[y.by.id] >= y.when
}

// readsVaryingValue reports whether one access reads a value that the other writes and that
// differs between threads. If all threads write the same value, the result does not depend on the
// order of the writes.
func readsVaryingValue(read, write *access) bool {
	if read.write || !write.write || read.e.Kind == trace.Atomic || write.e.Kind == trace.Atomic {
		return false
	}
	if write.e.Kind == trace.Copy {
		return true
	}
	v, held := storedValue(write)
	return held && (v == nil || v.Level() > value.Block || !v.Const() && write.e.Threads.Len() == 1)
}

// storedValue returns the value that a store writes, or nil if the value is unknown. The second
// result is false if the value is an immediate.
func storedValue(x *access) (*value.Value, bool) {
	n := len(x.e.In.Args) - 1
	switch x.e.In.Args[n].Kind {
	case ir.Register:
		return verify.Val(x.e, n), true
	case ir.Vector:
		return nil, true
	}
	return nil, false
}

// storeSameValue reports whether two stores write the same value in all threads, so that their
// order does not matter.
func storeSameValue(x, y *access) bool {
	if x.e.Kind != trace.Store || y.e.Kind != trace.Store || x.region.Low != y.region.Low ||
		x.region.High != y.region.High {
		return false
	}
	v, _ := storedValue(x)
	w, _ := storedValue(y)
	return v != nil && v == w && v.Level() <= value.Block
}

// parityKept is the message for a wait that completes on an old phase.
const parityKept = "wrong phase parity: this wait completes on a phase that was already waited " +
	"for; the parity is not flipped between iterations"

// staleWait returns the first wait, in program order, whose last execution completed no new
// phase, or nil.
func (a *agent) staleWait() (first *trace.Event) {
	for _, seen := range a.passed {
		if e := seen.stale; e != nil && (first == nil || e.In.Pos < first.In.Pos) {
			first = e
		}
	}
	return first
}

// reportFreed reports tensor memory that is freed while another warp may use it.
func (m *machine) reportFreed(y, x *access, severity diag.Severity) {
	free, use := x, y
	if y.e.Kind == trace.TensorFree {
		free, use = y, x
	}
	m.p.Report(&ruleFreed, free.e.In, "tensor memory is freed while another warp may use it; "+
		"nothing orders that use before the free").
		As(severity).Also(use.e.In, "the use").On(free.by.t, len(free.by.t.Events))
}

// warpName returns the warp of an agent, and its block if there are several, for messages.
func (m *machine) warpName(a *agent) string {
	if m.p.Ranks > 1 {
		return fmt.Sprintf("warp %d of block %d", a.warp, a.block)
	}
	return fmt.Sprint("warp ", a.warp)
}

// certainRegion returns the bytes that an access certainly touches.
func (x *access) certainRegion() *memory.Region {
	if x.core != nil {
		return x.core
	}
	return &x.region
}

func verbOf(a *access) string {
	if a.write {
		return "writes"
	}
	return "reads"
}

// eventName returns a noun phrase for an event, for messages.
func eventName(e *trace.Event) string {
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
