// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package wgmma

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleFence = diag.Rule{
		ID: "W1", Layer: "wgmma", Severity: diag.Error,
		Title: "missing wgmma.fence before wgmma.mma_async",
		What: "Reports a wgmma.mma_async without a preceding wgmma.fence, or whose accumulator " +
			"or A registers were written after the last wgmma.fence. Registers that only wgmma " +
			"has written since then need no fence.",
		Why: "The tensor core may read the registers before they are written.",
		Wrong: `
wgmma.fence.sync.aligned;
mov.f32 %f0, 0f00000000;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
`,
		Right: `
mov.f32 %f0, 0f00000000;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
`,
		Fix:     "Put wgmma.fence after the last write of those registers.",
		Section: "9.7.15.7.1 wgmma.fence",
	}
	ruleWait = diag.Rule{
		ID: "W2", Layer: "wgmma", Severity: diag.Error,
		Title: "registers accessed while wgmma is in flight",
		What: "Reports an accumulator of wgmma.mma_async that is read or written, or an A " +
			"register that is written, before a wgmma.wait_group covers its group.",
		Why: "wgmma is asynchronous: the values are old, new or a mixture.",
		Wrong: `
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
st.global.f32 [%rd3], %f0;
wgmma.wait_group.sync.aligned 0;
`,
		Right: `
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
st.global.f32 [%rd3], %f0;
`,
		Fix:     "Commit the group and wait for it before using the registers.",
		Section: "9.7.15.7.3 wgmma.wait_group",
	}
	ruleRelease = diag.Rule{
		ID: "W4", Layer: "wgmma", Severity: diag.Review,
		Title: "wgmma operands released by only part of the warpgroup",
		What: "Reports an arrival after wgmma.wait_group by fewer than four warps of the " +
			"warpgroup whose wgmma read the stage, without a warpgroup barrier in between.",
		Why: "The wait is per warp. The other three warps may not have reached it when the " +
			"stage is overwritten. Libraries do this nevertheless, and rely on the four warps " +
			"reading together.",
		Wrong: `
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.arrive.shared.b64 _, [bars];
`,
		Right: `
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
bar.sync 1, 128;
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.arrive.shared.b64 _, [bars];
`,
		Fix: "Let each warp arrive, or put a warpgroup barrier before the arrival.",
		Gaps: "The purpose of the mbarrier is unknown, so an arrival that releases nothing is " +
			"reported too.",
		Section: "9.7.15.7.3 wgmma.wait_group",
	}
	ruleWhole = diag.Rule{
		ID: "W5", Layer: "wgmma", Severity: diag.Error,
		Title: "wgmma in divergent code",
		What: "Reports a wgmma instruction that some but not all of the 128 threads of a " +
			"warpgroup execute.",
		Why: "All threads of the four warps must execute it together. Otherwise the kernel " +
			"hangs or its behaviour is undefined.",
		Wrong: `
.reqntid 128
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 96;
@!%p1 bra SKIP;
wgmma.fence.sync.aligned;
SKIP:
bar.sync 0;
`,
		Right: `
.reqntid 128
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 128;
@!%p1 bra SKIP;
wgmma.fence.sync.aligned;
SKIP:
bar.sync 0;
`,
		Fix: "Branch only at multiples of 128 threads.",
		Gaps: "Both sides of a data-dependent branch are analyzed, and the branch is assumed " +
			"to be uniform within the warpgroup.",
		Section: "9.7.15.1 Warpgroup",
	}
)
