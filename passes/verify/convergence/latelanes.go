// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkLateLanes looks for arrivals by some lanes of a warp after a wait by all lanes, without
// synchronization of the lanes between them. The phase may then advance past lanes that still
// wait. PTX does not define whether lanes leave a loop together, and ptxas and the hardware
// decide it. The finding is therefore a note, and the verdict is incomplete.
func checkLateLanes(p *verify.Pass, t *trace.Trace, come map[*ir.Instr]value.Set) {
	var wait *trace.Event
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Wait:
			wait = e
		case trace.Arrive, trace.TensorCommit:
			if wait == nil {
				continue
			}
			// Lanes on different traces may reach the same wait and the same arrival.
			warps := e.Threads.Warp(p.Pool.All())
			waits, arrives := come[wait.In].And(warps), come[e.In].And(warps)
			if waits.Warps() == arrives.Warps() && arrives.Len() < waits.Len() {
				p.Report(&ruleLaggard, e.In, "%s arrives for the whole warp after a wait by %s "+
					"without bar.warp.sync in between: lanes that still wait may miss the phase",
					verify.Threads(arrives.Len()), verify.Threads(waits.Len())).Also(wait.In,
					"the wait")
				p.Missed("arrivals of one lane for its whole warp: the other lanes may still be in the preceding wait (B7)")
				return
			}
		case trace.WarpSync, trace.BarrierSync, trace.Collective:
			wait = nil
		default:
			if e.In != nil && e.In.HasMod(isa.ModAligned) {
				wait = nil
			}
		}
	}
}

// threadsByInstruction returns, for each wait and each arrival instruction, the threads that
// execute it on any trace.
func threadsByInstruction(p *verify.Pass) map[*ir.Instr]value.Set {
	come := make(map[*ir.Instr]value.Set)
	for _, t := range p.Traces {
		for i := range t.Events {
			switch e := &t.Events[i]; e.Kind {
			case trace.Wait, trace.Arrive, trace.TensorCommit:
				come[e.In] = come[e.In].Or(*e.Threads)
			}
		}
	}
	return come
}

var ruleLaggard = diag.Rule{ID: "B7", Layer: "convergence", Severity: diag.Note}
