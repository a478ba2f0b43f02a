// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import "github.com/ptxdsl/ptxdsl/diag"

// The page of this one is with the analyzer of proxies.
var ruleProxy = diag.Rule{ID: "A1", Layer: "proxies", Severity: diag.Review}

var ruleOrder = diag.Rule{
	ID: "B11", Layer: "flags", Severity: diag.Review, Title: "a flag for other blocks that orders nothing",
	What: "A loop that waits for global memory to change by relaxed or volatile loads, of which it keeps nothing, and a load from global memory behind it with no fence of the device between; and a relaxed or volatile store or atomic to an array that the kernel waits for in that way, with stores to global memory ahead of it and no fence between.",
	Why:  "A barrier of the block orders memory for the block. What another block stored is seen for certain only behind an acquire at the scope of the device, and by others only where a release comes behind the store.",
	Wrong: `
WAIT:
ld.relaxed.gpu.global.u32 %r1, [%rd2];
setp.eq.u32 %p1, %r1, 0;
@%p1 bra WAIT;
ld.global.b32 %r2, [%rd1];
st.shared.b32 [tile], %r2;
`,
	Right: `
WAIT:
ld.acquire.gpu.global.u32 %r1, [%rd2];
setp.eq.u32 %p1, %r1, 0;
@%p1 bra WAIT;
ld.global.b32 %r2, [%rd1];
st.shared.b32 [tile], %r2;
`,
	Fix:     "Make the load an acquire and the flag a release, of .gpu or .sys, or put fence.acq_rel.gpu between.",
	Gaps:    "Whether what is loaded was stored by another block. Flags that carry a value. Relaxed flags of arrays that other kernels wait for, or whose address is not made of one parameter.",
	Section: "8.8 Release and Acquire Patterns",
}

var ruleFlag = diag.Rule{
	ID: "B10", Layer: "flags", Severity: diag.Review, Title: "one thread raises a flag, or waits for one, for others that it does not meet",
	What: "A release of global memory, or an atomic or volatile access behind a fence, by threads that a comparison of their number or elect.sync picks, behind stores to global memory by more threads of the block, with no barrier between, or behind their loads of memory that the kernel both reads and writes; and a loop in which such a thread waits for memory to change, behind which others load from global memory, or store to such memory, on a way that has no barrier.",
	Why:  "A release orders what its own thread did, and what that thread knows to be done because it met the others at a barrier. Other blocks see the flag before they see what the other threads stored.",
	Wrong: `
mov.u32 %r1, %tid.x;
st.global.b32 [%rd1], %r1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra SKIP;
red.release.gpu.global.add.u32 [%rd2], 1;
SKIP:
`,
	Right: `
mov.u32 %r1, %tid.x;
st.global.b32 [%rd1], %r1;
bar.sync 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra SKIP;
red.release.gpu.global.add.u32 [%rd2], 1;
SKIP:
`,
	Fix:     "Put a barrier between the stores of all threads and the flag, and between the wait and the loads.",
	Gaps:    "Whether the flag is for that memory, whether it reaches far enough, and whether the other block waits for it at all. Stores that are moved behind the flag. What callers do, and flags that are raised in functions that are not entered.",
	Section: "8.8 Release and Acquire Patterns",
}
