// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// laggards looks for a few lanes of a warp that arrive behind a wait of all of them, with nothing between that brings
// the lanes together: those that still wait may be overtaken. Whether lanes leave a loop apart is for the
// assembler and the machine to say and not in PTX, so this is told as a note, and the verdict is incomplete.
func laggards(p *verify.Pass, t *trace.Trace, come map[*ir.Instr]value.Set) {
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
			// Lanes may follow traces of their own, and come to the same wait and the same arrival.
			warps := e.Threads.Warp(p.Pool.All())
			waits, arrives := come[wait.In].And(warps), come[e.In].And(warps)
			if waits.Warps() == arrives.Warps() && arrives.Len() < waits.Len() {
				p.Report(&ruleLaggard, e.In, "an arrival by %s for the warp, behind a wait of %s, with nothing between that brings the lanes together: those that still wait may miss the phase",
					verify.Threads(arrives.Len()), verify.Threads(waits.Len())).Also(wait.In, "the wait")
				p.Missed("lanes that a warp-wide wait leaves apart, and one of them arriving for all (B7)")
				return
			}
		case trace.WarpSync, trace.BarrierSync, trace.Collective:
			wait = nil
		default:
			if e.In != nil && e.In.Mod("aligned") {
				wait = nil
			}
		}
	}
}

// comers is, of each wait and each arrival, the threads that come to it on some way.
func comers(p *verify.Pass) map[*ir.Instr]value.Set {
	come := make(map[*ir.Instr]value.Set)
	for _, t := range p.Traces {
		for i := range t.Events {
			switch e := &t.Events[i]; e.Kind {
			case trace.Wait, trace.Arrive, trace.TensorCommit:
				come[e.In] = come[e.In].Or(e.Threads)
			}
		}
	}
	return come
}

var ruleLaggard = diag.Rule{
	ID: "B7", Layer: "convergence", Severity: diag.Note, Title: "a leader arrives while other lanes may still wait",
	What: "A wait of all lanes of a warp, and behind it an arrival by one of them for all, with no bar.warp.sync, elect.sync or .aligned instruction between.",
	Why:  "The leader can go round the ring while another lane has not looked at the object again. Two phases on, that lane sees the parity that it waits against, and waits for ever.",
	Wrong: `
.reqntid 32
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [bars], 1;
@%p1 mbarrier.init.shared.b64 [bars+8], 1;
bar.sync 0;
@%p1 mbarrier.arrive.shared.b64 _, [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
@%p1 mbarrier.arrive.shared.b64 _, [bars+8];
`,
	Right: `
.reqntid 32
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [bars], 1;
@%p1 mbarrier.init.shared.b64 [bars+8], 1;
bar.sync 0;
@%p1 mbarrier.arrive.shared.b64 _, [bars];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bars], 0;
@!%p2 bra WAIT;
bar.warp.sync 0xffffffff;
@%p1 mbarrier.arrive.shared.b64 _, [bars+8];
`,
	Fix:     "Put bar.warp.sync between, or let the leader alone wait.",
	Gaps:    "Whether lanes that leave a loop come together again before what follows is not laid down in PTX: the assembler mostly makes them, which only an execution of the machine code shows. So this is a note, and never an error.",
	Section: "9.7.13.15.16 mbarrier.try_wait",
}
