// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleWait = diag.Rule{
		ID: "A5", Layer: "asyncgroup", Severity: diag.Error,
		Title: "missing wait for cp.async before its data is used",
		What: "Reports a read of shared memory that cp.async writes, on a path where the group " +
			"is not committed, not waited for, or waited for without a barrier although other " +
			"threads read. If the readers are lanes of the same warp, the finding is a review: " +
			"they usually wait together, but nothing guarantees it.",
		Why: "A wait covers only groups that the waiting thread committed before it. The reader " +
			"sometimes gets old bytes.",
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
		Fix:     "Commit the group and wait for it. Then use a barrier if other threads read the data.",
		Gaps:    "Data-dependent addresses are not checked.",
		Section: "9.7.9.25.3 Non-bulk copy",
	}
	ruleDepth = diag.Rule{
		ID: "A7", Layer: "asyncgroup", Severity: diag.Error,
		Title: "cp.async.wait_group leaves too many groups pending",
		What: "Reports a read of shared memory that cp.async writes while the last wait allows " +
			"the group to be still pending.",
		Why: "wait_group N leaves the N latest groups pending. In a ring of stages, N is easily " +
			"off by one.",
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
		Fix: "Choose N no larger than the number of groups that may still be pending when the " +
			"stage is read.",
		Gaps:    "Loops are analyzed for a few iterations.",
		Section: "9.7.9.25.3.3 cp.async.wait_group",
	}
	ruleRead = diag.Rule{
		ID: "A6", Layer: "asyncgroup", Severity: diag.Error,
		Title: "bulk store signalled as complete after wait_group.read only",
		What: "Reports a release store or an atomic on global memory after a bulk copy to global " +
			"memory, if that copy was waited for with .read or not at all.",
		Why: "wait_group.read only guarantees that the source has been read. A reader of the " +
			"flag may still see old data at the destination.",
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
		Fix:     "Wait without .read before setting the flag.",
		Gaps:    "A flag that is unrelated to the copy is reported too.",
		Section: "9.7.9.25.4 Bulk copy",
	}
	ruleSource = diag.Rule{
		ID: "A8", Layer: "asyncgroup", Severity: diag.Error,
		Title: "shared memory overwritten while an asynchronous copy reads it",
		What: "Reports a store to shared memory that a bulk copy of the same thread reads, " +
			"without a wait for the copy's group in between.",
		Why: "The copy may read some of the new bytes.",
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
		Fix: "Wait for the group with .read before writing the source again.",
		Gaps: "Stores by threads other than the copying one are checked only when the warps are " +
			"simulated (M12).",
		Section: "9.7.9.25.4 Bulk copy",
	}
	ruleBytes = diag.Rule{
		ID: "A9", Layer: "asyncgroup", Severity: diag.Error,
		Title: "misaligned or out-of-bounds bulk copy",
		What: "Reports a bulk copy whose size is not a multiple of 16 or whose address is not " +
			"aligned to 16 bytes, and a tensor copy whose shared-memory tile is not aligned to " +
			"128 bytes. Also reports a copy of known size that extends past its variable, and " +
			"two copies whose global addresses do not differ by a multiple of 16. A variable " +
			"declared with a smaller alignment is a review.",
		Why: "The kernel faults.",
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
		Fix: "Round sizes and addresses up to multiples of 16. Align tiles to 128 bytes, or to " +
			"the swizzle period: 256, 512 or 1024 bytes for 32-, 64- and 128-byte swizzles.",
		Gaps: "Unknown sizes and addresses, such as pointers, are not checked. PTX does not " +
			"contain the swizzle mode of a tensor map, so a tile that is misaligned with the " +
			"swizzle pattern is not detected.",
		Section: "9.7.9.25.4.1 cp.async.bulk",
	}
	ruleBox = diag.Rule{
		ID: "A13", Layer: "asyncgroup", Severity: diag.Error,
		Title: "TMA box not aligned to 16 bytes",
		What: "Reports a tensor copy whose first coordinate, that of the innermost dimension, is " +
			"odd. For three or more dimensions this is a review, because a map with interleaved " +
			"channels allows any start.",
		Why: "A box must start at a multiple of 16 bytes. The hardware raises an " +
			"illegal-instruction error. Neither the assembler nor the driver's tensor-map " +
			"encoder reports it.",
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
		Fix: "Start boxes at multiples of 16 bytes: 8 elements of 2 bytes, or 4 elements of 4 " +
			"bytes. In PTX the innermost coordinate comes first.",
		Gaps: "Even coordinates are not checked: the element size is in the tensor map, not in " +
			"PTX.",
		Section: "5.5.3.1 Bounding Box",
	}
	ruleBefore = diag.Rule{
		ID: "A14", Layer: "asyncgroup", Severity: diag.Error,
		Title: "TMA store starts at a negative coordinate",
		What: "Reports a tensor store or reduction in tile mode with a negative constant " +
			"coordinate.",
		Why: "The part of a box past the end of the tensor is skipped, and loads from before its " +
			"start return zeros. A store that starts before the tensor stops the kernel " +
			"(observed on sm_90, in every dimension).",
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
		Fix: "Start the box at 0 or later, and skip the elements before the tensor in shared " +
			"memory.",
		Gaps:    "Only constant coordinates are checked.",
		Section: "5.5.3.1 Bounding Box",
	}
)
