// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// closeGroups records that one more group was committed after each pending operation.
func closeGroups(list []*operation) {
	for _, op := range list {
		op.groups++
	}
}

// executeArrival executes mbarrier.arrive and mbarrier.expect_tx.
func (m *machine) executeArrival(a *agent, e *trace.Event) {
	a.clock.agents[a.id] = a.at + 1
	n, _ := verify.Arrivals(e)
	for _, at := range m.targets(a, e) {
		o := at.o
		if verify.Expects(e.In) {
			bytes, _ := verify.Number(e, verify.Address(e.In, 0)+1)
			if e.Kind == trace.Expect || n*at.threads <= o.pending || o.tx == 0 {
				o.tx += bytes * at.threads * o.scale()
			} else {
				m.arrive(a, o, n*at.threads, a.clock, currentEvent(a))
				continue
			}
		}
		if e.Kind == trace.Arrive {
			if e.Done != nil {
				if a.tokens == nil {
					a.tokens = make(map[*value.Value]int)
				}
				a.tokens[e.Done] = o.phases
			}
			if e.In.Kind() == isa.KindMbarrierArriveDrop ||
				e.In.Kind() == isa.KindMbarrierArriveDropExpectTx {
				if n*at.threads <= o.count {
					o.count -= n * at.threads // later phases expect fewer arrivals too
					o.arrive(n*at.threads, a.clock, e)
					continue
				}
			}
			m.arrive(a, o, n*at.threads, a.clock, currentEvent(a))
		}
	}
}

// arrive adds n arrivals to an mbarrier, and reports arrivals that exceed its count.
func (m *machine) arrive(a *agent, o *mbarrier, n int64, c *clock, e *trace.Event) {
	switch {
	case n > o.count:
		m.p.Report(&ruleCount, e.In,
			"%d threads arrive at once, but the mbarrier expects %d arrivals per phase",
			n, o.count).Also(o.init.In,
			"the mbarrier is initialized here")
	case n > o.pending && o.tx != 0 && a.staleWait() != nil:
		m.p.Report(&ruleParity, a.staleWait().In, parityKept).Also(e.In, "the thread arrives for "+
			"another phase here").On(a.t, a.at)
	case n > o.pending && o.tx != 0:
		f := m.p.Report(&ruleLap, e.In,
			"thread arrives at an mbarrier whose phase already has its %d arrivals and still expects bytes, without waiting for that phase to complete",
			o.count).
			Also(o.init.In, "the mbarrier is initialized here")
		m.recordMissingWait(a, f)
	case o.phases > 0 && c.lastPhase(o) < o.phases-1:
		m.reportEarlyArrival(a, o, e)
	case o.pending < n && !m.p.Subsumed(&surpluses):
		m.p.Report(&ruleCount, e.In,
			"%d threads arrive at once for a phase that expects only %d more of its %d arrivals: the surplus counts for the next phase, although nothing shows that this phase is complete",
			n, o.pending, o.count).
			As(diag.Review).Also(o.init.In, "the mbarrier is initialized here").On(a.t, a.at)
	}
	o.arrivers[0] = append(o.arrivers[0], a.id)
	o.arrive(n, c, e)
}

// reportEarlyArrival reports an arrival by an agent for which the previous phase is not certain
// to be complete. In another interleaving, the arrival would count for that phase.
func (m *machine) reportEarlyArrival(a *agent, o *mbarrier, e *trace.Event) {
	if m.p.Subsumed(&earlyArrivals) {
		return
	}
	if stale := a.staleWait(); stale != nil {
		m.p.Report(&ruleParity, stale.In, parityKept).Also(e.In, "the thread arrives for another "+
			"phase here").On(a.t, a.at)
		return
	}
	again := slices.Contains(o.arrivers[1], a.id)
	for i, id := range o.arrivers[1] {
		again = again || slices.Contains(o.arrivers[1][:i], id)
	}
	if again {
		f := m.p.Report(&ruleLap, e.In,
			"threads arrive twice at an mbarrier without waiting for the phase to complete in between").
			Also(o.init.In, "the mbarrier is initialized here, for %d arrivals", o.count).
			On(a.t, a.at)
		m.recordMissingWait(a, f)
		return
	}
	m.p.Report(&ruleCount, e.In,
		"one arrival too many at an mbarrier: other threads have already made its %d arrivals, and these threads do not wait for that phase to complete",
		o.count).
		Also(o.init.In, "the mbarrier is initialized here, for %d arrivals", o.count).On(a.t, a.at)
}

// completeBytes completes a phase whose bytes have all arrived, if its arrivals are also
// complete.
func (o *mbarrier) completeBytes() {
	if o.pending <= 0 {
		o.completePhase()
	}
}
