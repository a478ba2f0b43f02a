// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// reportHang reports one of the agents that wait forever.
func (m *machine) reportHang(stuck []*agent) {
	if m.p.Subsumed(&hangs) {
		return
	}
	// The cause is more likely a wait that no other agent would complete if it continued than a
	// wait that some agent would complete. Among these, a phase with some of its arrivals is
	// reported before a phase with none.
	for _, pick := range []func(a *agent, e *trace.Event) bool{
		func(a *agent, e *trace.Event) bool {
			return !m.hasPendingArrival(a, e, stuck) && m.hasPartialPhase(a, e)
		},
		func(a *agent, e *trace.Event) bool { return !m.hasPendingArrival(a, e, stuck) },
		m.hasPartialPhase,
		func(*agent, *trace.Event) bool { return true },
	} {
		for _, a := range stuck {
			if a.at >= len(a.t.Events) {
				continue
			}
			if e := &a.t.Events[a.at]; e.Kind == trace.Wait && pick(a, e) {
				m.reportStuck(a, e, stuck)
				return
			}
		}
	}
	for _, a := range stuck {
		if a.at < len(a.t.Events) {
			e, rule := &a.t.Events[a.at], &ruleHang
			if _, given := verify.Count(e); given && e.Kind == trace.BarrierSync {
				rule = &ruleMeet
			}
			m.withValues(
				m.p.Report(rule, e.In,
					"deadlock: %s waits here forever; some threads that the barrier expects do not arrive",
					m.warpName(a)).As(m.severity()).On(a.t, a.at))
			return
		}
	}
}

// checkEnd runs the checks at the end of a simulation, when all threads have exited. It reports
// transaction bytes that an mbarrier still expects or has received in excess.
func (m *machine) checkEnd(s []*trace.Trace) {
	for m.complete() {
	}
	m.upgradeReviews()
	if m.p.Subsumed(&endChecks) {
		return
	}
	m.checkPendingCopies()
	m.reportUnawaitedCommit()
	for _, t := range s {
		for i := range t.Events {
			e := &t.Events[i]
			if !verify.Expects(e.In) {
				continue
			}
			list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			for _, at := range list {
				o := m.mbarriers[mbarrierPlace{t.Rank, at.Object}]
				if o == nil || o.tx == 0 {
					continue
				}
				word, n := "expect_tx mismatch: fewer bytes are expected than arrive", -o.tx
				if n < 0 {
					word, n = "expect_tx mismatch: more bytes are expected than arrive", -n
				}
				m.p.Report(&ruleBytes, e.In,
					"%s; when all threads have exited, the transaction count of the mbarrier is off by %d",
					word, n/o.scale()).Also(o.init.In,
					"the mbarrier is initialized here").On(t, i)
				return
			}
		}
	}
}

// checkPendingCopies reports a copy into shared memory whose completion is never waited for. The
// block may exit, and the bytes may arrive in the memory of another block.
func (m *machine) checkPendingCopies() {
	for _, op := range m.loads {
		if slices.ContainsFunc(m.agents,
			func(a *agent) bool { return a.clock.hasCompleted(op.id) }) {
			continue
		}
		m.p.Report(&ruleHang, op.e.In, "copy into shared memory is never waited for; it may "+
			"still be in flight when the threads exit").As(diag.Review).
			On(op.by.t, len(op.by.t.Events))
		return
	}
}

// severity returns the severity of a hang: a review if the block size is assumed or the launch
// has no work, because such a launch may not occur, or else an error.
func (m *machine) severity() diag.Severity {
	if m.p.Guessed {
		return diag.Review
	}
	for _, a := range m.agents {
		if a.t.Facts.Empty() {
			return diag.Review
		}
	}
	return diag.Error
}

// hasPendingArrival reports whether another blocked agent would later arrive on the mbarrier for
// which agent a waits.
func (m *machine) hasPendingArrival(a *agent, e *trace.Event, stuck []*agent) bool {
	one := e.Within(a.threads)
	for _, at := range slices.Clone(m.targets(a, &one)) {
		if m.isPhasePending(a, e, at.o) && arrivesLater(a, at.o, stuck, m) {
			return true
		}
	}
	return false
}

// hasPartialPhase reports whether the awaited phase already has some of its arrivals or bytes.
func (m *machine) hasPartialPhase(a *agent, e *trace.Event) bool {
	one := e.Within(a.threads)
	for _, at := range slices.Clone(m.targets(a, &one)) {
		if o := at.o; o.pending > 0 && o.pending < o.count || o.tx != 0 {
			return true
		}
	}
	return false
}

// reportStuck reports the arrivals or bytes that a blocked wait still expects.
func (m *machine) reportStuck(a *agent, e *trace.Event, stuck []*agent) {
	one := e.Within(a.threads)
	for _, at := range slices.Clone(m.targets(a, &one)) {
		o := at.o
		if !m.isPhasePending(a, e, o) {
			continue
		}
		var f *verify.Finding
		switch {
		case o.pending > 0 && o.pending < o.count:
			f = m.p.Report(&ruleCount, e.In, "deadlock: %s waits here forever; phase %d has %d "+
				"of its %d arrivals, and no more follow", m.warpName(a), o.phases,
				o.count-o.pending,
				o.count)
		case o.pending > 0 && a.passed[o] != nil && o.phases > a.clock.lastPhase(o)+2:
			f = m.p.Report(&ruleLap, e.In,
				"%s waits here for a phase that is over: other lanes of the warp have already completed the next phase",
				m.warpName(a)).As(diag.Review)
		case o.pending == o.count && o.phases == 0 && a.passed[o] == nil && len(stuck) > 1 &&
			o.last == nil && arrivesLater(a, o, stuck, m):
			f = m.p.Report(&ruleParity, e.In, "wrong phase parity: %s waits here forever; the "+
				"wait names the parity of the current phase, and no thread arrives until the "+
				"wait completes", m.warpName(a))
		case o.pending > 0:
			f = m.p.Report(&ruleHang, e.In, "deadlock: %s waits here forever for the end of "+
				"phase %d; no more threads arrive", m.warpName(a), o.phases)
		case o.tx != 0:
			f = m.p.Report(&ruleBytes, e.In, "deadlock: %s waits here forever; phase %d still "+
				"expects bytes, and no copy delivers them", m.warpName(a), o.phases)
		default:
			f = m.p.Report(&ruleHang, e.In, "deadlock: %s waits here forever", m.warpName(a))
		}
		if f.Severity == diag.Error {
			f.As(m.severity())
		}
		if m.hasRemoteArrivals(o) {
			f.As(diag.Review) // blocks may differ if the launch chooses their number
		}
		f.Also(o.init.In, "the mbarrier is initialized here, for %d arrivals", o.count)
		if o.last != nil {
			f.Also(o.last.In, "the last arrival")
		}
		for _, b := range stuck {
			if b != a && b.at < len(b.t.Events) && b.t.Events[b.at].In != e.In {
				f.Also(b.t.Events[b.at].In, "meanwhile, %s waits here", m.warpName(b))
				break
			}
		}
		m.withValues(f.On(a.t, a.at))
		return
	}
}

// hasRemoteArrivals reports whether blocks arrive on each other's mbarriers in a cluster whose
// blocks are not simulated separately.
func (m *machine) hasRemoteArrivals(o *mbarrier) bool {
	if m.p.Cluster != 0 {
		return false
	}
	for _, a := range m.agents {
		for i := range a.t.Events {
			e := &a.t.Events[i]
			if e.Kind != trace.Arrive {
				continue
			}
			list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			if slices.ContainsFunc(list, func(at verify.Touch) bool {
				return at.Rank != nil && m.mbarriers[mbarrierPlace{a.block, at.Object}] == o
			}) {
				return true
			}
		}
	}
	return false
}

// arrivesLater reports whether a blocked agent other than a would arrive on an mbarrier later.
func arrivesLater(a *agent, o *mbarrier, stuck []*agent, m *machine) bool {
	for _, b := range stuck {
		if b == a || b.at < len(b.t.Events) && b.t.Events[b.at].In == a.t.Events[a.at].In {
			continue
		}
		for i := b.at; i < len(b.t.Events); i++ {
			e := &b.t.Events[i]
			switch e.Kind {
			case trace.Arrive, trace.TensorCommit, trace.CopyArrive, trace.BulkLoad,
				trace.RemoteStore, trace.Answer:
			default:
				continue
			}
			if n, known := verify.Arrivals(e); e.Kind == trace.CopyArrive && known && n == 0 {
				continue // its arrivals add up to zero
			}
			if slices.ContainsFunc(m.targets(b, e), func(at target) bool { return at.o == o }) {
				return true
			}
		}
	}
	return false
}
