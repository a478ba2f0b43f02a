// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package global

import "github.com/ptxdsl/ptxdsl/diag"

var ruleRace = diag.Rule{
	ID: "G1", Layer: "global", Severity: diag.Error,
	Title: "global-memory race between blocks, or between threads of one block",
	What: "Reports two plain stores, or a plain load and a plain store, that access the same " +
		"address in two blocks of the grid or in two threads of one block, with nothing to order " +
		"them. The block index is a symbol: the finding holds for every grid with more than one " +
		"block along the axis that the kernel reads.",
	Why: "Blocks run in any order and at the same time. Which store remains, and whether a load " +
		"sees it, changes from run to run.",
	Wrong: `
.reqntid 64
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, 32, %r1;
mul.wide.u32 %rd2, %r3, 4;
ld.param.u64 %rd1, [p];
add.u64 %rd1, %rd1, %rd2;
st.global.b32 [%rd1], %r1;
`,
	Right: `
.reqntid 64
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, 64, %r1;
mul.wide.u32 %rd2, %r3, 4;
ld.param.u64 %rd1, [p];
add.u64 %rd1, %rd1, %rd2;
st.global.b32 [%rd1], %r1;
`,
	Fix: "Give each block memory of its own, use an atomic, or split the kernel in two.",
	Gaps: "Not checked: kernels with atomics, fences, flags, clusters or asynchronous copies, " +
		"block sizes that are not declared with .reqntid, addresses and conditions that depend " +
		"on data, later iterations of loops, and two pointers to the same memory. Stores of one " +
		"value by all blocks are not reported.",
	Section: "8 Memory Consistency Model",
}
