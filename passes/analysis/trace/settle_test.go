// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// TestSettle follows a constant that differs between roles through arithmetic that is not linear.
func TestSettle(t *testing.T) {
	const wait = "xor.b32 %r2, %r2, 1;\nand.b32 %r3, %r2, 3;\nmbarrier.test_wait.parity.shared.b64 %p3, [bars], %r3;\n"
	k := follow(t, ".reqntid 64",
		"mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 31;\nselp.b32 %r2, 31, 0, %p1;\nsetp.eq.u32 %p2, %r1, 32;\n@%p2 bra OTHER;\n"+
			"setp.ne.u32 %p2, %r1, 0;\n@%p2 bra DONE;\n"+wait+"bra DONE;\nOTHER:\n"+wait)
	got := make(map[int]int64)
	for _, tr := range k.Traces {
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.Wait && e.Vals[2] != nil && e.Vals[2].Const() {
				got[e.Threads.Least()] = e.Vals[2].K
			}
		}
	}
	if len(got) != 2 || got[0] != 1 || got[32] != 2 {
		t.Errorf("what threads wait for is %v, expected 1 of thread 0 and 2 of thread 32", got)
	}
}

// TestSilentLoop follows a loop without events from which a parity results, for the substituted
// constants.
func TestSilentLoop(t *testing.T) {
	k := follow(t, ".reqntid 64",
		"ld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\nLOUD:\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 bra ON;\nbar.sync 1;\nadd.u32 %r2, %r2, 1;\nbra LOUD;\n"+
			"ON:\nand.b32 %r5, %r1, 2;\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra QUIET;\nbar.sync 2;\nQUIET:\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n"+
			"TURN:\nsetp.ge.u32 %p2, %r3, %r1;\n@%p2 bra OVER;\nadd.u32 %r3, %r3, 1;\nxor.b32 %r4, %r4, 1;\nbra TURN;\nOVER:\nmbarrier.test_wait.parity.shared.b64 %p3, [bars], %r4;\n")
	if len(k.Missed) > 0 {
		t.Errorf("missed %q", k.Missed)
	}
	got := make(map[int64]bool)
	for _, tr := range k.Traces {
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.Wait && e.Vals[2] != nil && e.Vals[2].Const() {
				got[e.Vals[2].K] = true
			}
		}
	}
	if !got[0] || !got[1] {
		t.Errorf("parities are %v, expected 0 and 1", got)
	}
}
