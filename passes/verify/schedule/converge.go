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

// converged reports whether an agent may execute its event. An operation that the lanes of a warp
// execute together must wait for all lanes that reach it. It does not order memory, but keeps the
// lanes in the same iteration.
func (m *machine) converged(a *agent, e *trace.Event) bool {
	if !a.apart || a.with > a.at || !meets(e) {
		return true
	}
	list := []*agent{a}
	for _, o := range m.agents {
		if o == a || o.home() != a.home() || o.left || o.last(e.In) < o.at {
			continue
		}
		if o.t.Events[o.at].In != e.In {
			return false
		}
		list = append(list, o)
	}
	for _, o := range list {
		o.with = o.at + 1
	}
	return true
}

// meets reports whether the lanes of a warp execute an instruction together.
func meets(e *trace.Event) bool {
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

// last returns the last position at which an agent executes an instruction together with its warp,
// or -1.
func (a *agent) last(in *ir.Instr) int {
	if a.lasts == nil {
		a.lasts = make(map[*ir.Instr]int)
		for i := range a.t.Events {
			if e := &a.t.Events[i]; meets(e) && e.Threads.And(a.threads) != (value.Set{}) {
				a.lasts[e.In] = i
			}
		}
	}
	if i, ok := a.lasts[in]; ok {
		return i
	}
	return -1
}
