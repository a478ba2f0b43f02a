// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// TestSettle follows a number that roles begin with, each with its own, through arithmetic that is not linear.
func TestSettle(t *testing.T) {
	const wait = "xor.b32 %r2, %r2, 1;\nand.b32 %r3, %r2, 3;\nmbarrier.test_wait.parity.shared.b64 %p3, [bars], %r3;\n"
	k := follow(t, ".reqntid 64", "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 31;\nselp.b32 %r2, 31, 0, %p1;\nsetp.eq.u32 %p2, %r1, 32;\n@%p2 bra OTHER;\n"+
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
