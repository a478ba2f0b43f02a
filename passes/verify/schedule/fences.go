// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// A fence is an async proxy fence that an agent executed: its position, and what the agent knew at
// that point.
type fence struct {
	at     int
	agents []int
}

// fenced records a proxy fence that covers shared memory.
func (m *machine) fenced(a *agent, e *trace.Event) {
	if e.Guard != nil || !e.In.HasMod(isa.ModAsync) || e.In.HasMod(isa.ModGlobal) {
		return
	}
	a.fences = append(a.fences, fence{a.at + 1, slices.Clone(a.clock.agents)})
}

// unfenced reports an async read of memory after a plain write without a proxy fence by the writer
// in between. Analyzer proxies reports this if one trace shows it and an arrival passes the memory
// on. Here, other threads wrote, and a barrier follows.
func (m *machine) unfenced(r *accessIndex, s *bucket, x *access) bool {
	if !s.stored {
		return false
	}
	*m.work += len(s.old)
	for _, y := range s.old {
		if !y.exposes() || y.region.High <= x.region.Low || x.region.High <= y.region.Low ||
			!m.ordered(y, x) {
			continue
		}
		if sure, _ := y.region.Meets(&x.region); !sure || m.closed(y, x) || m.superseded(r, y, x) {
			continue
		}
		m.exposed(y, x)
		return true
	}
	return false
}

// exposes reports whether an access is a plain write that needs a fence before async reads.
func (x *access) exposes() bool { return !x.engine() && x.e.Kind != trace.Copy && x.e.Guard == nil }

// closed reports whether the writer executed a fence after y and before x could start.
func (m *machine) closed(y, x *access) bool {
	return slices.ContainsFunc(y.by.fences,
		func(f fence) bool {
			return f.at > y.when && (y.by == x.by || x.by.clock.agents[y.by.id] >= f.at)
		})
}

// superseded reports whether another access overwrote y before x.
func (m *machine) superseded(r *accessIndex, y, x *access) bool {
	return r.near(&y.region, true, func(s *bucket) bool {
		*m.work += len(s.old)
		return slices.ContainsFunc(s.old, func(z *access) bool {
			return z.number > y.number && z.e.In != y.e.In && z.region.Low <= y.region.Low &&
				y.region.High <= m.end(z) && m.ordered(z, x)
		})
	})
}

// end returns the end address of an access. For a tensor copy it uses the assumed size.
func (m *machine) end(x *access) int64 {
	if x.e.Kind == trace.BulkLoad {
		return max(x.region.High, x.region.Low+m.p.Tile(x.e))
	}
	return x.region.High
}

func (m *machine) exposed(y, x *access) {
	rule := &ruleProxy
	if x.e.Kind == trace.GroupMultiply {
		rule = &ruleOperand
	}
	if m.p.Subsumed(&exposures) {
		return
	}
	severity, why := diag.Error, "missing fence.proxy.async in the writing threads"
	if slices.ContainsFunc(x.by.fences, func(f fence) bool { return f.agents[y.by.id] >= y.when }) {
		severity, why = diag.Review, "fence.proxy.async after the barrier instead of before it"
	}
	never := !slices.ContainsFunc(y.by.fences, func(f fence) bool { return f.at > y.when })
	if sure, _ := y.least().Meets(x.least()); !sure || m.lanes[y.by.home()] > 1 && !never {
		severity = diag.Review
	}
	m.p.Report(rule, x.e.In, "%[3]s: %[1]s reads through the async proxy what %[2]s wrote "+
		"through the generic proxy", name(x.e), m.who(y.by), why).
		As(severity).Also(y.e.In, "written here").On(x.by.t, x.by.at)
}
