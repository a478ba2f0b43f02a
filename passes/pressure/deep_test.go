// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestDeep schedules eight sums of four loaded values each. In text order all loads come first,
// then the additions level by level; computed one after the other, the sums need few registers.
func TestDeep(t *testing.T) {
	var loads, sums, stores strings.Builder
	for i := range 8 {
		fmt.Fprintf(&loads, "ld.global.v4.f32 {%%f%d,%%f%d,%%f%d,%%f%d}, [%%rd3+%d];\n", 4*i, 4*i+1,
			4*i+2, 4*i+3, 16*i)
		fmt.Fprintf(&stores, "st.shared.f32 [%%r1+%d], %%f%d;\n", 4*i, 4*i)
	}
	for level := 1; level < 4; level++ {
		for i := range 8 {
			fmt.Fprintf(&sums, "add.f32 %%f%d, %%f%d, %%f%d;\n", 4*i, 4*i, 4*i+level)
		}
	}
	body := `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 128;
add.s64 %rd3, %rd1, %rd2;
` + loads.String() + sums.String() + stores.String() + `
bar.sync 0;
ret;`
	if n := feature(t, kernel("sm_90", "", body), "lean"); n > 14 {
		t.Errorf("%d words at least; eight sums, four values and the address are 14", n)
	}
}

// TestForgotten has an atomic under a guard whose result is never read, so the old value of the
// result register need not stay live through the loop.
func TestForgotten(t *testing.T) {
	body := `
ld.param.u64 %rd1, [p];
ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x;
mov.u32 %r5, 0;
L:
add.u32 %r1, %r1, %r9;
setp.lt.u32 %p1, %r1, 1000;
@%p1 bra L;
setp.lt.u32 %p2, %r1, 2000;
%s
ret;`
	read := kernel("sm_90", "",
		strings.Replace(body, "%s",
			"@%p2 atom.global.add.u32 %r5, [%rd1], %r1;\nst.global.u32 [%rd1+8], %r5;", 1))
	dead := kernel("sm_90", "",
		strings.Replace(body, "%s", "@%p2 atom.global.add.u32 %r5, [%rd1], %r1;", 1))
	if with, without := feature(t, read, "crossing"),
		feature(t, dead, "crossing"); without != with-1 {
		t.Errorf("%d words between blocks with the result, %d without", with, without)
	}
}

// TestDeadMatrix has an MMA whose result is never read: ptxas removes it, and the instructions that
// compute its operands.
func TestDeadMatrix(t *testing.T) {
	body := `
mov.u32 %r9, %tid.x;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r9];
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5,%r6}, [%r9+512];
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};
ret;`
	if n := feature(t, kernel("sm_80", "", body), "ops"); n != 1 {
		t.Errorf("%d ops are left, want ret alone", n)
	}
}

// TestMatrixAddress has matrices at constant distances from one address. The distances are folded
// into the accesses.
func TestMatrixAddress(t *testing.T) {
	body := `
mov.u32 %r9, %tid.x;
add.u32 %r10, %r9, 512;
ld.shared.u32 %r11, [%r9];
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r10];
bar.sync 0;
stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r10], {%r11};
st.shared.u32 [%r9], %r1;
ret;`
	if n := feature(t, kernel("sm_90", "", body), "lean"); n != 3 {
		t.Errorf("%d words, want the address and two values", n)
	}
}

// TestDescriptors checks that matrix descriptors take uniform registers, however they are computed.
func TestDescriptors(t *testing.T) {
	body := `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
cvt.u64.u32 %rd2, %r1;
shl.b64 %rd3, %rd2, 4;
or.b64 %rd4, %rd3, 64;
or.b64 %rd5, %rd3, 128;
L:
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd4, %rd5, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
setp.lt.f32 %p1, %f1, 0f3F800000;
@%p1 bra L;
st.global.v4.f32 [%rd1], {%f1,%f2,%f3,%f4};
ret;`
	if n := feature(t, kernel("sm_90a", "", body), "inner"); n > 6 {
		t.Errorf("%d words in use in the loop, want four and the address", n)
	}
}
