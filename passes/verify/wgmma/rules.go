// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package wgmma

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleFence = diag.Rule{
		ID: "W1", Layer: "wgmma", Severity: diag.Error, Title: "wgmma on registers that are not fenced",
		What: "A wgmma.mma_async with no wgmma.fence before it, or of which an accumulator or A register was written behind the last wgmma.fence. Registers that only wgmma wrote since need none.",
		Why:  "The matrix unit may read the registers before they are written: wrong numbers.",
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
		Fix:     "Put wgmma.fence behind the last write of those registers.",
		Section: "9.7.15.7.1 wgmma.fence",
	}
	ruleWait = diag.Rule{
		ID: "W2", Layer: "wgmma", Severity: diag.Error, Title: "registers touched while wgmma works on them",
		What: "An accumulator of a wgmma.mma_async that is read or written, or an A register that is written, before a wgmma.wait_group covers its group.",
		Why:  "The matrix unit works in the background: the values are old, new or mixed.",
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
		Fix:     "Close the group and wait for it before the registers are used.",
		Section: "9.7.15.7.3 wgmma.wait_group",
	}
	ruleRelease = diag.Rule{
		ID: "W4", Layer: "wgmma", Severity: diag.Review, Title: "operands given back by part of a warpgroup",
		What: "An arrival, behind a wgmma.wait_group, by fewer than four warps of the warpgroup whose wgmma read the stage, with no barrier of the warpgroup between.",
		Why:  "The wait is of each warp for itself. The other three warps may not have come to it when the stage is overwritten. Libraries do this nevertheless, and rely on the four warps reading together.",
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
		Fix:     "Let each warp arrive, or put a barrier of the warpgroup before the arrival.",
		Gaps:    "It is not known what the barrier object stands for: an arrival that gives nothing back is reported too.",
		Section: "9.7.15.7.3 wgmma.wait_group",
	}
	ruleWhole = diag.Rule{
		ID: "W5", Layer: "wgmma", Severity: diag.Error, Title: "wgmma by part of a warpgroup",
		What: "A wgmma instruction that some and not all of the 128 threads of a warpgroup come to.",
		Why:  "All threads of the four warps must execute it: the kernel hangs, or does what is not defined.",
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
		Fix:     "Let threads part at multiples of 128.",
		Gaps:    "Branches on data are followed both ways and taken to be the same for the warpgroup.",
		Section: "9.7.15.1 Warpgroup",
	}
)
