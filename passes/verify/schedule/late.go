// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A signal is the arrival of a tcgen05.commit on an mbarrier of another block, in one phase.
type signal struct {
	o     *mbarrier
	phase int
	block int
	by    *agent
	e     *trace.Event
}

// recordSignal records the arrival of a commit on an mbarrier of another block.
func (m *machine) recordSignal(a *agent, at target, e *trace.Event) {
	if at.block != a.block {
		m.signalled = append(m.signalled, signal{at.o, at.o.phases, at.block, a, e})
	}
}

// reportUnawaitedCommit reports a commit that arrives on an mbarrier of another block if no wait
// follows in that block. The block may have exited, and the arrival may corrupt the memory of
// another block. A wait for a later commit of the same thread shows that the operations have
// completed, but not that this arrival has happened, because the PTX manual does not order
// arrivals. The finding is therefore a note, and the verdict is incomplete.
func (m *machine) reportUnawaitedCommit() {
	if m.p.Subsumed(&lateArrivals) {
		return
	}
	for _, s := range slices.Backward(m.signalled) {
		if slices.ContainsFunc(m.agents,
			func(a *agent) bool {
				return a.block == s.block && a.clock.lastPhase(s.o) >= s.phase
			}) {
			continue
		}
		m.p.Report(&ruleExit, s.e.In, "commit also arrives at an mbarrier of block %d, where no "+
			"thread waits for it; the block may have exited by then", s.block).
			As(diag.Note).Also(s.o.init.In, "the mbarrier is initialized here").
			On(s.by.t, len(s.by.t.Events))
		m.p.Missed("commits that signal another block, which may exit before they arrive (C4)")
		return
	}
}

// executeCommit schedules the arrival of a commit on an mbarrier, which happens when the
// preceding operations have completed.
func (m *machine) executeCommit(a *agent, e *trace.Event) {
	ops := a.copies
	a.copies = nil
	know, from := a.clock.clone(), currentEvent(a)
	n := int64(1)
	if verify.Multicast(e.In) && m.p.Ranks < 2 {
		n = int64(max(1, m.p.Cluster))
	}
	for _, at := range m.targets(a, e) {
		m.due = append(m.due, &completion{run: func() {
			for _, op := range ops {
				know.addCompleted(op.id)
			}
			m.recordSignal(a, at, from)
			m.arrive(a, at.o, n*at.threads, know, from)
		}})
	}
	// A later commit also tracks these operations.
	a.copies = append(a.copies, ops...)
	if len(a.copies) > 128 {
		a.copies = a.copies[len(a.copies)-128:]
	}
}
