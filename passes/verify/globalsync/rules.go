// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import "github.com/ptxdsl/ptxdsl/diag"

// The page of this rule is with analyzer proxies.
var ruleProxy = diag.Rule{ID: "A1", Layer: "proxies", Severity: diag.Review}

var ruleOrder = diag.Rule{
	ID: "B11", Layer: "globalsync", Severity: diag.Review,
	Title: "inter-block flag in global memory without acquire or release ordering",
	What: "Reports a loop that polls global memory with relaxed or volatile loads and is " +
		"followed by a global load, without a device-scope fence in between. Also reports a " +
		"relaxed or volatile store or atomic to an array that the kernel polls in this way, if " +
		"global stores precede it without a fence in between.",
	Why: "A block barrier orders memory within the block only. A store of another block is " +
		"visible for certain only after an acquire at device scope, paired with a release after " +
		"the store.",
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
	Fix: "Use acquire for the load and release for the flag, at .gpu or .sys scope, or put " +
		"fence.acq_rel.gpu in between.",
	Gaps: "Whether another block stored the loaded data is not checked. Flags that carry a " +
		"value, relaxed flags that other kernels poll, and flag addresses that do not derive " +
		"from one parameter are not checked either.",
	Section: "8.8 Release and Acquire Patterns",
}

var ruleFlag = diag.Rule{
	ID: "B10", Layer: "globalsync", Severity: diag.Review,
	Title: "one thread signals or waits for other threads without a block barrier",
	What: "Reports a release to global memory (or an atomic or volatile access after a fence) by " +
		"selected threads, when more threads of the block stored to global memory before it and " +
		"no barrier is in between. Loads of memory that the kernel both reads and writes count " +
		"like stores. Also reports a loop in which such a thread polls memory, when other " +
		"threads access that memory afterwards on a path without a barrier. Selected threads are " +
		"those picked by a comparison of the thread index or by elect.sync.",
	Why: "A release orders the writes of its own thread, and writes that the thread knows of " +
		"through a barrier. Without the barrier, other blocks see the flag before they see the " +
		"stores of the other threads.",
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
	Fix: "Put a barrier between the stores of all threads and the flag, and between the wait and " +
		"the loads.",
	Gaps: "Not checked: whether the flag protects that memory, whether its scope is large " +
		"enough, and whether the other block waits for it. Stores that are moved below the flag, " +
		"code of callers, and flags set in functions that are not inlined are not followed.",
	Section: "8.8 Release and Acquire Patterns",
}
