// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A lapse is a wait that is missing: all that threads do too early between one wait or barrier and
// the next is the same mistake, wherever it shows.
type lapse struct {
	rule    string
	threads value.Set
	since   *ir.Instr // the wait or barrier before it, or nil
}

// lapses is what was reported of each, in all orders of the warps.
type lapses map[lapse][]*verify.Finding

// lapsed notes a finding about what an agent does now.
func (m *machine) lapsed(a *agent, f *verify.Finding) {
	k := lapse{rule: f.Rule, threads: a.t.Threads}
	for i := min(a.at, len(a.t.Events)) - 1; i >= 0 && k.since == nil; i-- {
		switch e := &a.t.Events[i]; e.Kind {
		case trace.Wait, trace.BarrierSync, trace.ClusterWait:
			k.since = e.In
		}
	}
	m.lapses[k] = append(m.lapses[k], f)
}

// merge makes one finding of those about one mistake where one of them is an error: it proves the
// mistake, and the others, which are reviews because the end of a tile is not known, are more of
// the same. What remains of a mistake has one severity.
func (l lapses) merge() {
	for _, list := range l {
		proof := slices.IndexFunc(list, func(f *verify.Finding) bool {
			return f.Severity == diag.Error
		})
		if proof < 0 {
			continue
		}
		for _, f := range list {
			if f.Severity != diag.Error {
				f.Join(list[proof], "this comes too early for the same reason")
			}
		}
	}
}
