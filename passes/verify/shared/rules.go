// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package shared

import "github.com/ptxdsl/ptxdsl/diag"

var (
	ruleBounds = diag.Rule{
		ID: "S1", Layer: "shared", Severity: diag.Error,
		Title: "shared memory accessed out of bounds",
		What: "Reports a load, store or atomic whose address, in some thread that executes it, is " +
			"outside the array in shared memory that the address counts from.",
		Why: "The access reads or overwrites another array, or faults past the end of the " +
			"block's shared memory. How arrays follow one another is not specified.",
		Wrong: `
.reqntid 64
.shared .align 4 .b32 row[64];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, row;
add.u32 %r4, %r3, %r2;
st.shared.b32 [%r4+4], %r1;
`,
		Right: `
.reqntid 64
.shared .align 4 .b32 row[65];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, row;
add.u32 %r4, %r3, %r2;
st.shared.b32 [%r4+4], %r1;
`,
		Fix: "Make the array larger, or let fewer threads execute the access.",
		Gaps: "Addresses and paths that depend on parameters or data are not checked. Neither are " +
			"arrays without a size, matrix descriptors and copies.",
		Section: "5.1.6 Shared State Space",
	}
	ruleAlign = diag.Rule{
		ID: "S2", Layer: "shared", Severity: diag.Error,
		Title: "misaligned access of shared memory",
		What: "Reports a load, store or atomic whose address, in some thread, is not a multiple of " +
			"the size of the access; 16 bytes for the rows of ldmatrix and stmatrix.",
		Why: "The access faults.",
		Wrong: `
.reqntid 32
.shared .align 16 .b8 row[1024];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 3;
mov.u32 %r3, row;
add.u32 %r4, %r3, %r2;
st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r1};
`,
		Right: `
.reqntid 32
.shared .align 16 .b8 row[1024];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 4;
mov.u32 %r3, row;
add.u32 %r4, %r3, %r2;
st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r1};
`,
		Fix: "Make the stride between threads a multiple of the size of the access, or use a " +
			"narrower access.",
		Gaps: "An array whose declared alignment is smaller than the access is not checked: the " +
			"assembler may place it at an aligned address.",
		Section: "5.1.6 Shared State Space",
	}
	ruleUnwritten = diag.Rule{
		ID: "S3", Layer: "shared", Severity: diag.Error,
		Title: "uninitialized shared memory is read",
		What: "Reports a load of bytes in shared memory that no store, copy or other instruction " +
			"of the kernel writes. If only some of the bytes that the threads read are never " +
			"written, the finding is a review.",
		Why: "Shared memory has no initial value: the result is what another block left there.",
		Wrong: `
.reqntid 64
.shared .align 4 .b32 sums[2];
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 st.shared.b32 [sums], %r1;
bar.sync 0;
ld.shared.b32 %r2, [sums];
ld.shared.b32 %r3, [sums+4];
`,
		Right: `
.reqntid 64
.shared .align 4 .b32 sums[2];
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 st.shared.b32 [sums], %r1;
setp.eq.u32 %p2, %r1, 32;
@%p2 st.shared.b32 [sums+4], %r1;
bar.sync 0;
ld.shared.b32 %r2, [sums];
ld.shared.b32 %r3, [sums+4];
`,
		Fix: "Store to every element before it is read, in all warps whose result is read.",
		Gaps: "That a store comes before the load is not checked, only that there is one. If " +
			"nothing writes any byte of an array, or a store goes to an address that is not " +
			"known, nothing is reported.",
		Section: "5.1.6 Shared State Space",
	}
)
