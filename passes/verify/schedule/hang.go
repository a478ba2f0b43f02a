// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// hang reports agents that wait forever.
func (m *machine) hang(stuck []*agent) {
	if m.p.Subsumed(&hangs) {
		return
	}
	// A wait that no other agent would end is reported before one that another would end if it
	// continued. A phase with some of its arrivals is reported before one with none.
	for _, pick := range []func(a *agent, e *trace.Event) bool{
		func(a *agent, e *trace.Event) bool { return !m.hopes(a, e, stuck) && m.begun(a, e) },
		func(a *agent, e *trace.Event) bool { return !m.hopes(a, e, stuck) },
		m.begun,
		func(*agent, *trace.Event) bool { return true },
	} {
		for _, a := range stuck {
			if a.at >= len(a.t.Events) {
				continue
			}
			if e := &a.t.Events[a.at]; e.Kind == trace.Wait && pick(a, e) {
				m.stuckAt(a, e, stuck)
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
					m.who(a)).As(m.severity()).On(a.t, a.at))
			return
		}
	}
}

// rest reports transaction bytes that an mbarrier still expects, or received in excess, when all
// threads have exited.
func (m *machine) rest(s []*trace.Trace) {
	for m.complete() {
	}
	m.doubtless()
	if m.p.Subsumed(&rests) {
		return
	}
	m.drained()
	m.unheard()
	for _, t := range s {
		for i := range t.Events {
			e := &t.Events[i]
			if !verify.Expects(e.In) {
				continue
			}
			list, _ := m.p.Objects(e, verify.Val(e, verify.Address(e.In, 0)))
			for _, at := range list {
				o := m.objects[mbarrierPlace{t.Rank, at.Object}]
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

// drained reports a copy into shared memory whose completion is never waited for: the block may
// exit, and the bytes may arrive in the memory of another block.
func (m *machine) drained() {
	for _, op := range m.loads {
		if slices.ContainsFunc(m.agents, func(a *agent) bool { return a.clock.knows(op.id) }) {
			continue
		}
		m.p.Report(&ruleHang, op.e.In, "copy into shared memory is never waited for; it may "+
			"still be in flight when the threads exit").As(diag.Review).
			On(op.by.t, len(op.by.t.Events))
		return
	}
}

// severity returns the severity of a hang: a review for a launch without work, which may not
// happen.
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

// hopes reports whether another blocked agent would arrive later on the mbarrier for which an agent
// waits.
func (m *machine) hopes(a *agent, e *trace.Event, stuck []*agent) bool {
	one := e.Within(a.threads)
	for _, at := range slices.Clone(m.touched(a, &one)) {
		if m.pends(a, e, at.o) && comes(a, at.o, stuck, m) {
			return true
		}
	}
	return false
}

// begun reports whether the awaited phase already has some of its arrivals.
func (m *machine) begun(a *agent, e *trace.Event) bool {
	one := e.Within(a.threads)
	for _, at := range slices.Clone(m.touched(a, &one)) {
		if o := at.o; o.pending > 0 && o.pending < o.count || o.tx != 0 {
			return true
		}
	}
	return false
}

// stuckAt reports what a blocked wait still lacks.
func (m *machine) stuckAt(a *agent, e *trace.Event, stuck []*agent) {
	one := e.Within(a.threads)
	for _, at := range slices.Clone(m.touched(a, &one)) {
		o := at.o
		if !m.pends(a, e, o) {
			continue
		}
		var f *verify.Finding
		switch {
		case o.pending > 0 && o.pending < o.count:
			f = m.p.Report(&ruleCount, e.In, "deadlock: %s waits here forever; phase %d has %d "+
				"of its %d arrivals, and no more follow", m.who(a), o.phases, o.count-o.pending,
				o.count)
		case o.pending > 0 && a.passed[o] != nil && o.phases > a.clock.last(o)+2:
			f = m.p.Report(&ruleLap, e.In,
				"%s waits here for a phase that is over: other lanes of the warp have already completed the next phase",
				m.who(a)).As(diag.Review)
		case o.pending == o.count && o.phases == 0 && a.passed[o] == nil && len(stuck) > 1 &&
			o.last == nil && comes(a, o, stuck, m):
			f = m.p.Report(&ruleParity, e.In, "wrong phase parity: %s waits here forever; the "+
				"wait names the parity of the current phase, and no thread arrives until the "+
				"wait completes", m.who(a))
		case o.pending > 0:
			f = m.p.Report(&ruleHang, e.In, "deadlock: %s waits here forever for the end of "+
				"phase %d; no more threads arrive", m.who(a), o.phases)
		case o.tx != 0:
			f = m.p.Report(&ruleBytes, e.In, "deadlock: %s waits here forever; phase %d still "+
				"expects bytes, and no copy delivers them", m.who(a), o.phases)
		default:
			f = m.p.Report(&ruleHang, e.In, "deadlock: %s waits here forever", m.who(a))
		}
		if f.Severity == diag.Error {
			f.As(m.severity())
		}
		if m.foreign(o) {
			f.As(diag.Review) // blocks may differ if the launch chooses their number
		}
		f.Also(o.init.In, "the mbarrier is initialized here, for %d arrivals", o.count)
		if o.last != nil {
			f.Also(o.last.In, "the last arrival")
		}
		for _, b := range stuck {
			if b != a && b.at < len(b.t.Events) && b.t.Events[b.at].In != e.In {
				f.Also(b.t.Events[b.at].In, "meanwhile, %s waits here", m.who(b))
				break
			}
		}
		m.withValues(f.On(a.t, a.at))
		return
	}
}

// foreign reports whether blocks arrive on each other's mbarriers in a cluster whose blocks are not
// simulated separately.
func (m *machine) foreign(o *object) bool {
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
				return at.Rank != nil && m.objects[mbarrierPlace{a.block, at.Object}] == o
			}) {
				return true
			}
		}
	}
	return false
}

// comes reports whether a blocked agent would arrive on an mbarrier later.
func comes(a *agent, o *object, stuck []*agent, m *machine) bool {
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
			if slices.ContainsFunc(m.touched(b, e), func(at target) bool { return at.o == o }) {
				return true
			}
		}
	}
	return false
}
