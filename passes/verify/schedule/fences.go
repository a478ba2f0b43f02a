// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// A fence is an async proxy fence that an agent executed: its index in the trace, and the agent's
// clock at that event.
type fence struct {
	at     int
	agents []int
}

// recordProxyFence records a proxy fence that covers shared memory.
func (m *machine) recordProxyFence(a *agent, e *trace.Event) {
	if e.Guard != nil || !e.In.HasMod(isa.ModAsync) || e.In.HasMod(isa.ModGlobal) {
		return
	}
	a.fences = append(a.fences, fence{a.at + 1, slices.Clone(a.clock.agents)})
}

// reportMissingFence reports an async read of memory after a plain write, if the writing thread
// executes no proxy fence between the two. It returns whether it made a finding. Package proxies
// reports the same mistake if it is visible on one trace, or if an arrival passes the memory on.
// Here, other threads wrote the memory, and a barrier follows.
func (m *machine) reportMissingFence(r *accessIndex, s *bucket, x *access) bool {
	if !s.stored {
		return false
	}
	*m.work += len(s.oldWrites)
	for _, y := range s.oldWrites {
		if !y.needsFence() || y.region.High <= x.region.Low || x.region.High <= y.region.Low ||
			!m.isOrdered(y, x) {
			continue
		}
		if sure, _ := y.region.Meets(&x.region); !sure || m.isFenced(y, x) ||
			m.isOverwritten(r, y, x) {
			continue
		}
		m.reportUnfenced(y, x)
		return true
	}
	return false
}

// needsFence reports whether an access is a plain write, which needs a fence before async reads.
func (x *access) needsFence() bool {
	return !x.isAsync() && x.e.Kind != trace.Copy && x.e.Guard == nil
}

// isFenced reports whether the writer executed a fence after y and before x could start.
func (m *machine) isFenced(y, x *access) bool {
	return slices.ContainsFunc(y.by.fences,
		func(f fence) bool {
			return f.at > y.when && (y.by == x.by || x.by.clock.agents[y.by.id] >= f.at)
		})
}

// isOverwritten reports whether another access certainly overwrote the memory of y before x.
func (m *machine) isOverwritten(r *accessIndex, y, x *access) bool {
	return r.eachNear(&y.region, true, func(s *bucket) bool {
		*m.work += len(s.oldWrites)
		return slices.ContainsFunc(s.oldWrites, func(z *access) bool {
			return z.number > y.number && z.e.In != y.e.In && z.region.Low <= y.region.Low &&
				y.region.High <= m.end(z) && m.isOrdered(z, x)
		})
	})
}

// end returns the end address of an access. For a tensor copy, it assumes the apparent size.
func (m *machine) end(x *access) int64 {
	if x.e.Kind == trace.BulkLoad {
		return max(x.region.High, x.region.Low+m.p.Tile(x.e))
	}
	return x.region.High
}

func (m *machine) reportUnfenced(y, x *access) {
	rule := &ruleProxy
	if x.e.Kind == trace.GroupMultiply {
		rule = &ruleOperand
	}
	if m.p.Subsumed(&missingFences) {
		return
	}
	severity, why := diag.Error, "missing fence.proxy.async in the writing threads"
	if slices.ContainsFunc(x.by.fences, func(f fence) bool { return f.agents[y.by.id] >= y.when }) {
		severity, why = diag.Review, "fence.proxy.async after the barrier instead of before it"
	}
	never := !slices.ContainsFunc(y.by.fences, func(f fence) bool { return f.at > y.when })
	if sure, _ := y.certainRegion().Meets(x.certainRegion()); !sure || m.lanes[y.by.home()] > 1 &&
		!never {
		severity = diag.Review
	}
	m.p.Report(rule, x.e.In, "%[3]s: %[1]s reads through the async proxy what %[2]s wrote "+
		"through the generic proxy", eventName(x.e), m.warpName(y.by), why).
		As(severity).Also(y.e.In, "written here").On(x.by.t, x.by.at)
}
