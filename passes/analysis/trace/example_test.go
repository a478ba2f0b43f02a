// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// Example follows a kernel in which one warp arrives at a barrier and the others wait at it.
func Example() {
	file, _ := ptx.Parse("k.ptx", `.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
.reqntid 128
{
	.reg .pred %p;
	.reg .b32 %t;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 32;
	@%p bra FIRST;
	barrier.sync 1, 128;
	ret;
FIRST:
	barrier.arrive 1, 128;
	ret;
}
`)
	m, _ := lift.Module(file)
	k := trace.Analyze(m, m.Funcs()[0], trace.Default())
	for _, way := range k.Traces {
		for i := range way.Events {
			if e := &way.Events[i]; e.Kind == trace.BarrierSync || e.Kind == trace.BarrierArrive {
				fmt.Println(e.In.Op, "by", e.Threads.Len(), "threads from", e.Threads.Least(), "of",
					e.Vals[1].K)
			}
		}
	}
	// Output:
	// barrier.arrive by 32 threads from 0 of 128
	// barrier.sync by 96 threads from 32 of 128
}
