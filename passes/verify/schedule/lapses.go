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

// A lapse is a missing wait. All findings about accesses that come too early between one wait or
// barrier and the next are the same mistake.
type lapse struct {
	rule    string
	threads value.Set
	since   *ir.Instr // the preceding wait or barrier, or nil
}

// lapses holds the findings of each lapse, over all interleavings of the warps.
type lapses map[lapse][]*verify.Finding

// lapsed records a finding about the current event of an agent.
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

// merge joins the findings about one mistake if one of them is an error: it proves the mistake. The
// others are reviews only because the size of a tile is unknown.
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
				f.Join(list[proof], "this access is too early for the same reason")
			}
		}
	}
}
