// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkArrivalCounts reports blocks of one cluster that arrive at the cluster barrier a different
// number of times. Barriers do not wait for exited blocks, so the cluster does not hang, but the
// last barriers of the remaining blocks order nothing.
func checkArrivalCounts(p *verify.Pass) {
	if p.Ranks < 2 || p.Loops || len(p.Kernel.Missed) > 0 {
		return
	}
	for _, t := range p.Traces {
		last, n := arrivals(t)
		for _, o := range p.Traces {
			if o.Rank >= t.Rank || t.Stopped != "" || o.Stopped != "" || !o.Facts.Agree(t.Facts) {
				continue
			}
			other, m := arrivals(o)
			if n == m || last == nil || other == nil {
				continue
			}
			if m > n {
				last, n, m = other, m, n
			}
			p.Report(&rulePhase, last.In,
				"blocks of one cluster arrive at the cluster barrier different numbers of times: their loops run %d and %d iterations",
				m, n).As(diag.Review)
			return
		}
	}
}

// arrivals returns the last arrival at the cluster barrier on a trace, or nil, and the number of
// arrivals.
func arrivals(t *trace.Trace) (last *trace.Event, n int) {
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.ClusterArrive {
			last = e
			n++
		}
	}
	return last, n
}
