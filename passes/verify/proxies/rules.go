// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package proxies

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleWrite = diag.Rule{
		ID: "A1", Layer: "proxies", Severity: diag.Error, Title: "plain writes that the async proxy reads without a fence",
		What: "Shared memory that st, stmatrix or cp.async writes and that a bulk copy or a tensor core then reads, with no fence.proxy.async of each writing thread between, or with no barrier behind that fence. A fence that comes behind the barrier is a review: it is on the way from the write to the read, and not in the writers.",
		Why:  "The engines do not see plain writes that are not fenced: tiles are stale or mixed, often rarely.",
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
		Fix:     "Let every writing thread execute fence.proxy.async.shared::cta behind its writes, then have a barrier, then the copy.",
		Gaps:    "Addresses that rest on data, and accesses through generic addresses whose space is not known.",
		Section: "9.7.13.4 fence",
	}
	ruleRead = diag.Rule{
		ID: "A2", Layer: "proxies", Severity: diag.Review, Title: "plain reads that the async proxy overwrites without a fence",
		What: "Shared memory that ld or ldmatrix reads and that a bulk copy then overwrites, with no fence.proxy.async of the reading threads before they hand the memory back, or one that lanes make behind the meeting of their warp and ahead of the arrival of one of them. A request for more work with no fence that acquires ahead, where those who read the answer before only release.",
		Why:  "The copy may overtake the reads: wrong values, rarely. Much code does without the fence and has not been seen to fail, hence a review.",
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
		Gaps:    "As A1.",
		Section: "9.7.13.4 fence",
	}
	ruleSpace = diag.Rule{
		ID: "A4", Layer: "proxies", Severity: diag.Error, Title: "a proxy fence for another space",
		What: "A fence.proxy.async whose space is not the one of the memory: .global for shared memory, .shared::cta for that of another block of the cluster.",
		Why:  "It orders nothing there.",
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
		Fix:     "Name the space of the memory, or none.",
		Section: "9.7.13.4 fence",
	}
	ruleGroup = diag.Rule{
		ID: "W3", Layer: "proxies", Severity: diag.Error, Title: "plain writes that wgmma reads without a fence",
		What: "As A1, where a wgmma.mma_async reads the memory as a matrix.",
		Why:  "wgmma reads shared memory through the async proxy.",
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
		Fix:     "As A1.",
		Gaps:    "As A1; descriptors that are not made from an address in the kernel.",
		Section: "9.7.15.7 Asynchronous wgmma",
	}
	ruleMap = diag.Rule{
		ID: "A11", Layer: "proxies", Severity: diag.Error, Title: "a tensor map used behind an edit without a fence",
		What: "A bulk tensor copy through a map in global memory that tensormap.replace edited, with no release and acquire of fence.proxy.tensormap between.",
		Why:  "The engine may use the old map, or a mixture: stale data or a fault.",
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
		Fix:     "Release behind the edits, acquire the map's 128 bytes before its use; or edit it in shared memory and copy it with tensormap.cp_fenceproxy.",
		Gaps:    "Maps that are edited in another kernel or by the host.",
		Section: "9.7.13.4 fence",
	}
)
