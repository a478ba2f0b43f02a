// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleWrite = diag.Rule{
		ID: "A1", Layer: "proxies", Severity: diag.Error,
		Title: "missing fence.proxy.async between a shared-memory store and an asynchronous read",
		What: "Reports shared memory that st, stmatrix or cp.async writes and that a bulk copy " +
			"or a tensor core then reads, if a writing thread executes no fence.proxy.async in " +
			"between, or if no barrier follows the fence. A fence after the barrier is a review: " +
			"it is between the write and the read, but not in the writing threads.",
		Why: "The async proxy does not see generic-proxy writes without a fence. Tiles are " +
			"stale or mixed, often rarely.",
		Wrong: `
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r4, %r3, %r2;
st.shared.b32 [%r4], %r1;
bar.sync 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;
`,
		Right: `
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r4, %r3, %r2;
st.shared.b32 [%r4], %r1;
fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;
`,
		Fix: "Let every writing thread execute fence.proxy.async.shared::cta after its " +
			"writes, then a barrier. Issue the copy after the barrier.",
		Gaps: "Data-dependent addresses, and generic addresses of unknown state space, are " +
			"not checked.",
		Section: "9.7.13.4 fence",
	}
	ruleRead = diag.Rule{
		ID: "A2", Layer: "proxies", Severity: diag.Review,
		Title: "missing fence.proxy.async between a shared-memory load and an asynchronous " +
			"overwrite",
		What: "Reports shared memory that ld or ldmatrix reads and that a bulk copy then " +
			"overwrites, if the reading threads execute no fence.proxy.async before they release " +
			"the memory. Also reports a fence that lanes execute after their warp synchronized " +
			"but before one of them arrives. Also reports a clusterlaunchcontrol.try_cancel " +
			"without an acquire fence, if the readers of the previous response only execute a " +
			"release fence.",
		Why: "The copy may overtake the reads, which rarely gives wrong values. Much existing " +
			"code omits the fence and has not been seen to fail, so this is a review.",
		Wrong: `
mov.u32 %r1, %tid.x;
ld.shared.b32 %r2, [tile];
bar.sync 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [bars];
`,
		Right: `
mov.u32 %r1, %tid.x;
ld.shared.b32 %r2, [tile];
fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [bars];
`,
		Fix:     "Let the readers execute fence.proxy.async.shared::cta before they arrive.",
		Gaps:    "The limits of A1 apply.",
		Section: "9.7.13.4 fence",
	}
	ruleSpace = diag.Rule{
		ID: "A4", Layer: "proxies", Severity: diag.Error,
		Title: "fence.proxy.async for the wrong state space",
		What: "Reports a fence.proxy.async whose state space does not match the memory: .global " +
			"for shared memory, or .shared::cta for shared memory of another block of the " +
			"cluster.",
		Why: "The fence does not order accesses to that memory.",
		Wrong: `
mov.u32 %r1, %tid.x;
st.shared.b32 [tile], %r1;
fence.proxy.async.global;
bar.sync 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;
`,
		Right: `
mov.u32 %r1, %tid.x;
st.shared.b32 [tile], %r1;
fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;
`,
		Fix:     "Name the state space of the memory, or none.",
		Section: "9.7.13.4 fence",
	}
	ruleGroup = diag.Rule{
		ID: "W3", Layer: "proxies", Severity: diag.Error,
		Title: "missing fence.proxy.async between a shared-memory store and wgmma",
		What: "Reports the same as A1, where a wgmma.mma_async reads the memory as a matrix " +
			"operand.",
		Why: "wgmma reads shared memory through the async proxy.",
		Wrong: `
mov.u32 %r1, %tid.x;
mov.u32 %r3, tile;
st.shared.b32 [%r3], %r1;
bar.sync 0;
shr.u32 %r4, %r3, 4;
and.b32 %r4, %r4, 0x3fff;
cvt.u64.u32 %rd1, %r4;
or.b64 %rd1, %rd1, 0x4000004000010000;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
`,
		Right: `
mov.u32 %r1, %tid.x;
mov.u32 %r3, tile;
st.shared.b32 [%r3], %r1;
fence.proxy.async.shared::cta;
bar.sync 0;
shr.u32 %r4, %r3, 4;
and.b32 %r4, %r4, 0x3fff;
cvt.u64.u32 %rd1, %r4;
or.b64 %rd1, %rd1, 0x4000004000010000;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
`,
		Fix: "As for A1.",
		Gaps: "The limits of A1 apply. Descriptors that are not computed from an address in " +
			"the kernel are not followed.",
		Section: "9.7.15.7 Asynchronous wgmma",
	}
	ruleMap = diag.Rule{
		ID: "A11", Layer: "proxies", Severity: diag.Error,
		Title: "missing fence.proxy.tensormap after a tensor map is modified",
		What: "Reports a bulk tensor copy through a tensor map in global memory that " +
			"tensormap.replace modified, without a release and an acquire fence.proxy.tensormap " +
			"in between.",
		Why: "The copy may use the old map or a mixture of both: stale data or a fault.",
		Wrong: `
tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;
cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1}], [bars];
`,
		Right: `
tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;
fence.proxy.tensormap::generic.release.gpu;
fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1}], [bars];
`,
		Fix: "Release after the modification and acquire the map's 128 bytes before its use. " +
			"Or modify it in shared memory and copy it with tensormap.cp_fenceproxy.",
		Gaps:    "Maps modified by another kernel or by the host are not checked.",
		Section: "9.7.13.4 fence",
	}
)
