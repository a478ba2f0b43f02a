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

// A missingWait identifies a wait that a kernel omits. All findings of one rule about accesses by
// the same threads between one wait or barrier and the next have the same cause.
type missingWait struct {
	rule    string
	threads value.Set
	since   *ir.Instr // the preceding wait or barrier, or nil
}

// findingsByWait holds the findings about each missing wait, over all simulations.
type findingsByWait map[missingWait][]*verify.Finding

// recordMissingWait records a finding about the current event of an agent.
func (m *machine) recordMissingWait(a *agent, f *verify.Finding) {
	k := missingWait{rule: f.Rule, threads: a.t.Threads}
	for i := min(a.at, len(a.t.Events)) - 1; i >= 0 && k.since == nil; i-- {
		switch e := &a.t.Events[i]; e.Kind {
		case trace.Wait, trace.BarrierSync, trace.ClusterWait:
			k.since = e.In
		}
	}
	m.missingWaits[k] = append(m.missingWaits[k], f)
}

// merge joins the findings about one missing wait if one of them is an error. The error proves
// the mistake; the other findings are reviews only because the size of a tile is unknown.
func (l findingsByWait) merge() {
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
