// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package groups

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleWait = diag.Rule{
		ID: "A5", Layer: "groups", Severity: diag.Error, Title: "copied bytes used without a wait that covers them",
		What: "A read of shared memory that cp.async writes, on a way on which the copy's group is not closed, or is waited for by the copying thread but not followed by a barrier although other threads read. Where those are lanes of the same warp it is a review: they mostly wait together, which nothing says.",
		Why:  "A wait covers the groups that were closed before it, of the thread that waits. The reader sees old bytes, now and then.",
		Wrong: `
cp.async.cg.shared.global [tile+0], [%rd1], 16;
cp.async.wait_group 0;
cp.async.commit_group;
bar.sync 0;
ld.shared.b32 %r1, [tile+0];
`,
		Right: `
cp.async.cg.shared.global [tile+0], [%rd1], 16;
cp.async.commit_group;
cp.async.wait_group 0;
bar.sync 0;
ld.shared.b32 %r1, [tile+0];
`,
		Fix:     "Close the group, wait for it, then have a barrier if other threads read.",
		Gaps:    "Addresses that rest on data are passed over.",
		Section: "9.7.9.25.3 Non-bulk copy",
	}
	ruleDepth = diag.Rule{
		ID: "A7", Layer: "groups", Severity: diag.Error, Title: "a wait that leaves too many groups pending",
		What: "A read of shared memory that cp.async writes while the last wait allows the copy's group to be pending still.",
		Why:  "wait_group N leaves the N latest groups pending: with a ring of stages N is off by one easily.",
		Wrong: `
cp.async.cg.shared.global [tile+0], [%rd1], 16;
cp.async.commit_group;
cp.async.wait_group 1;
bar.sync 0;
ld.shared.b32 %r1, [tile+0];
`,
		Right: `
cp.async.cg.shared.global [tile+0], [%rd1], 16;
cp.async.commit_group;
cp.async.wait_group 0;
bar.sync 0;
ld.shared.b32 %r1, [tile+0];
`,
		Fix:     "Wait with N not above the number of groups that may be pending when the stage is read.",
		Gaps:    "Loops are followed for a few turns round the ring.",
		Section: "9.7.9.25.3.3 cp.async.wait_group",
	}
	ruleRead = diag.Rule{
		ID: "A6", Layer: "groups", Severity: diag.Error, Title: "a result announced when only the source is free",
		What: "A release store or an atomic on global memory behind a bulk copy to global memory that is waited for with .read, or not at all.",
		Why:  "wait_group.read says that the source was read. Whoever sees the flag may still read old data at the destination.",
		Wrong: `
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
st.release.gpu.global.b32 [%rd2], %r1;
`,
		Right: `
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
st.release.gpu.global.b32 [%rd2], %r1;
`,
		Fix:     "Wait without .read before the flag is set.",
		Gaps:    "A flag that has nothing to do with the copy is reported too.",
		Section: "9.7.9.25.4 Bulk copy",
	}
	ruleSource = diag.Rule{
		ID: "A8", Layer: "groups", Severity: diag.Error, Title: "the source of a copy rewritten while it is under way",
		What: "A store to shared memory that a bulk copy of the same thread reads, with no wait for the copy's group between them.",
		Why:  "The copy takes some of the new bytes.",
		Wrong: `
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
cp.async.bulk.commit_group;
st.shared.b32 [tile+0], %r1;
cp.async.bulk.wait_group 0;
`,
		Right: `
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
st.shared.b32 [tile+0], %r1;
cp.async.bulk.wait_group 0;
`,
		Fix:     "Wait for the group, with .read, before the source is written again.",
		Gaps:    "Stores of other threads than the one that copies are held against the order of barriers by an execution only.",
		Section: "9.7.9.25.4 Bulk copy",
	}
	ruleBytes = diag.Rule{
		ID: "A9", Layer: "groups", Severity: diag.Error, Title: "a bulk copy of odd size or place",
		What: "A bulk copy whose size is no multiple of 16, or whose address is not aligned to 16; a copy of a tensor's box whose tile in shared memory is not aligned to 128; one of known size that goes beyond the variable that it is counted from; or two whose addresses in global memory are no multiple of 16 apart. A variable that is declared with less alignment is a review.",
		Why:  "The kernel faults.",
		Wrong: `
mov.b32 %r1, 200;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], %r1;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
`,
		Right: `
mov.b32 %r1, 208;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], %r1;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
`,
		Fix:     "Round sizes up and places to multiples of 16, and begin tiles at multiples of 128, or of what the swizzle repeats after: 256, 512 or 1024 for 32, 64 and 128 bytes.",
		Gaps:    "Sizes and addresses of which nothing is known, such as pointers. The swizzle of a tensor map is not in PTX, so that a tile which lies across its pattern is not found.",
		Section: "9.7.9.25.4.1 cp.async.bulk",
	}
	ruleBox = diag.Rule{
		ID: "A13", Layer: "groups", Severity: diag.Error, Title: "a box that begins between steps of 16 bytes",
		What: "A copy of a tensor's box whose first coordinate, which is that of the innermost dimension, is odd. From three dimensions on it is a review: a map that interleaves channels lets boxes begin anywhere.",
		Why:  "Boxes begin at multiples of 16 bytes; the hardware raises an illegal instruction, and neither the assembler nor the driver's encoder of tensor maps says a word.",
		Wrong: `
mov.b32 %r1, 8;
mov.b32 %r2, 3;
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r2, %r1}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
`,
		Right: `
mov.b32 %r1, 3;
mov.b32 %r2, 8;
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r2, %r1}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
`,
		Fix:     "Begin boxes at multiples of 16 bytes: 8 elements of 2 bytes, 4 of 4. The innermost coordinate comes first in PTX.",
		Gaps:    "Even coordinates: the size of the elements is in the tensor map, and not in PTX.",
		Section: "5.5.3.1 Bounding Box",
	}
	ruleBefore = diag.Rule{
		ID: "A14", Layer: "groups", Severity: diag.Error, Title: "a box stored from before its tensor on",
		What: "A store or a reduction of a tensor's box, in tile mode, one of whose coordinates is a negative constant.",
		Why:  "What of a box lies behind the tensor's end is left out, and loads from before its beginning read zeros; but a store that begins there stops the kernel (on sm_90, along any dimension).",
		Wrong: `
mov.b32 %r1, -1;
mov.b32 %r2, 8;
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r2, %r1}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
`,
		Right: `
mov.b32 %r1, 0;
mov.b32 %r2, 8;
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r2, %r1}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
`,
		Fix:     "Begin the box at 0 or behind it, and leave out in shared memory what would come before.",
		Gaps:    "Coordinates that are no constants.",
		Section: "5.5.3.1 Bounding Box",
	}
)
