// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// hasConverged reports whether an agent may execute its event. An operation that the lanes of a
// warp execute together must wait for all lanes that reach it. This does not order memory, but
// keeps the lanes in the same iteration.
func (m *machine) hasConverged(a *agent, e *trace.Event) bool {
	if !a.splitWarp || a.warpWideEnd > a.at || !isWarpWide(e) {
		return true
	}
	list := []*agent{a}
	for _, o := range m.agents {
		if o == a || o.home() != a.home() || o.exited || o.lastExecution(e.In) < o.at {
			continue
		}
		if o.t.Events[o.at].In != e.In {
			return false
		}
		list = append(list, o)
	}
	for _, o := range list {
		o.warpWideEnd = o.at + 1
	}
	return true
}

// isWarpWide reports whether the lanes of a warp execute an event together.
func isWarpWide(e *trace.Event) bool {
	switch e.Kind {
	case trace.GroupFence, trace.GroupMultiply, trace.GroupCommit, trace.GroupWait,
		trace.TensorAlloc, trace.TensorFree, trace.TensorYield,
		trace.TensorLoad, trace.TensorStore, trace.TensorWait, trace.Registers, trace.Load,
		trace.Store:
		return e.In.HasMod(isa.ModAligned)
	case trace.Collective:
		mask, ok := verify.Number(e, len(e.In.Args)-1)
		return ok && uint32(mask) == 1<<32-1
	}
	return false
}

// lastExecution returns the index of the last event at which an agent executes instruction in
// together with its warp, or -1.
func (a *agent) lastExecution(in *ir.Instr) int {
	if a.lastExecutions == nil {
		a.lastExecutions = make(map[*ir.Instr]int)
		for i := range a.t.Events {
			if e := &a.t.Events[i]; isWarpWide(e) && e.Threads.And(a.threads) != (value.Set{}) {
				a.lastExecutions[e.In] = i
			}
		}
	}
	if i, ok := a.lastExecutions[in]; ok {
		return i
	}
	return -1
}
