// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// structure returns a module with a kernel whose second parameter is a structure of 64 bytes.
func structure(text string) string {
	return `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .align 16 .b8 shape[64])
{
	.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<4>; .reg .pred %p;
	ld.param.u64 %d1, [out];
	cvta.to.global.u64 %d1, %d1;
	mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
	mad.lo.s32 %r5, %r3, %r4, %r2;
	` + text + `
	ret;
}
`
}

// expect checks a file with one kernel, and compares its verdict. The launches, reasons or findings
// must contain the note.
func expect(t *testing.T, text, verdict, note string) {
	t.Helper()
	results, err := check.File("k.ptx", text, check.Options{Search: -1})
	if err != nil {
		t.Fatal(err)
	}
	r := &results[0]
	report := fmt.Sprintln(r.Tried, r.Incomplete, r.NotReached)
	for _, d := range r.Findings {
		report += check.Text(d) + "\n"
	}
	if got := r.Verdict(); got != verdict || !strings.Contains(report, note) {
		t.Errorf("%s, want %s with %q:\n%s", got, verdict, note, report)
	}
}

// TestStructure checks which launches are derived for parameters that are structures.
func TestStructure(t *testing.T) {
	const store = `mul.lo.u32 %r6, %r5, %r1; mul.wide.u32 %d2, %r6, 4; add.u64 %d3, %d1, %d2;
	st.global.u32 [%d3], %r5;`
	tests := []struct{ name, text, want, note string }{
		{"a stride", "ld.param.u32 %r1, [shape+4];" + store, "clean", "shape[4] = 128"},
		{"a stride at an address in a register", `mov.b64 %d5, shape; add.u64 %d6, %d5, 8;
	ld.param.u32 %r1, [%d6+4];` + store, "clean", "shape[12] = 128"},
		{"a stride at a varying address", `mov.b64 %d5, shape; and.b32 %r7, %r3, 4;
	cvt.u64.u32 %d7, %r7; add.u64 %d6, %d5, %d7; ld.param.u32 %r1, [%d6];` + store, "review",
			"check assumed parts of the structure shape to be zero"},
		{"a pointer", `ld.param.v2.u64 {%d5, %d6}, [shape+16]; mul.wide.u32 %d2, %r5, 4;
	add.u64 %d3, %d6, %d2; st.global.u32 [%d3], %r5; ld.global.u32 %r6, [%d5];`, "clean",
			"shape[16] = an array of zeros, shape[24] = an array of zeros"},
		{"a race through a pointer", `ld.param.u64 %d5, [shape+8];
	ld.global.u32 %r6, [%d5]; add.u32 %r6, %r6, %r5; st.global.u32 [%d5], %r6;`, "error",
			"at shape[8]+0"},
		{"a race that depends on a factor",
			`ld.param.v2.u32 {%r1, %r7}, [shape]; mul.hi.u32 %r8, %r5, %r1;
	shr.u32 %r9, %r8, %r7; mul.wide.u32 %d2, %r9, 4; add.u64 %d3, %d1, %d2;
	st.global.u32 [%d3], %r5;`, "review", "check assumed the integers in structures"},
		{"a number", `ld.param.b32 %f1, [shape+8]; ld.param.u32 %r1, [shape]; add.f32 %f2, %f1, %f1;
	setp.ge.u32 %p, %r5, %r1; @%p exit; mul.wide.u32 %d2, %r5, 4; add.u64 %d3, %d1, %d2;
	st.global.f32 [%d3], %f2;`, "clean", "shape[0] = 128, shape[8] = 1.5"},
		{"a part of a field", `ld.param.u64 %d5, [shape+8]; ld.param.u32 %r6, [shape+12];
	st.global.u32 [%d5], %r6;`, "review", "shape[8] = an array of zeros"},
		{"a field outside", "ld.param.u32 %r1, [shape+62];" + store, "error", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			expect(t, structure(test.text), test.want, test.note)
		})
	}
}

// TestStrides checks that the strides of an array are derived so that its elements do not overlap.
func TestStrides(t *testing.T) {
	const head = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 s0, .param .u64 s1, .param .u32 n)
{
	.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p;
	ld.param.u64 %d1, [out]; ld.param.u64 %d2, [s0]; ld.param.u64 %d3, [s1];
	cvta.to.global.u64 %d1, %d1;
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1; cvt.u64.u32 %d4, %r4;
	`
	const columns = `mov.u32 %r5, %tid.y; mov.u32 %r6, %ntid.y; mov.u32 %r7, %ctaid.y;
	mad.lo.u32 %r8, %r6, %r7, %r5; cvt.u64.u32 %d5, %r8; `
	const loop = `ld.param.u32 %r6, [n]; mov.u32 %r5, 0;
l:	cvt.u64.u32 %d5, %r5;
	`
	const store = "st.global.u32 [%d8], %r4; "
	const next = "add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, %r6; @%p bra l; "
	tests := []struct{ name, text, want, note string }{
		{"bytes", columns + `mul.lo.u64 %d6, %d5, %d2; mad.lo.u64 %d7, %d4, %d3, %d6;
	add.u64 %d8, %d1, %d7; ` + store, "clean", "s0 = 128, s1 = 4"},
		{"the first stride is the smaller one", columns + `mul.lo.u64 %d6, %d5, %d3;
	mad.lo.u64 %d7, %d4, %d2, %d6; add.u64 %d8, %d1, %d7; ` + store, "clean", "s0 = 4, s1 = 128"},
		{"elements", columns + `mul.lo.u64 %d6, %d5, %d2; mad.lo.u64 %d7, %d4, %d3, %d6;
	shl.b64 %d9, %d7, 2; add.u64 %d8, %d1, %d9; ` + store, "clean", "s0 = 32, s1 = 1"},
		{"a loop", loop + `mul.lo.u64 %d6, %d5, %d2; mad.lo.u64 %d7, %d4, %d3, %d6;
	add.u64 %d8, %d1, %d7; ` + store + next, "clean", "s0 = 512, s1 = 4"},
		{"one stride", "mad.lo.u64 %d8, %d4, %d2, %d1; " + store, "clean", "s0 = 512"},
		{"a race with all strides", columns + `mul.lo.u64 %d6, %d5, %d2;
	mad.lo.u64 %d7, %d5, %d3, %d6; add.u64 %d8, %d1, %d7; ` + store, "error", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			expect(t, head+test.text+"ret;\n}\n", test.want, test.note)
		})
	}
}

// TestTensorMapInStructure checks that the bytes that an mbarrier expects agree with the boxes of
// tensor maps in a structure, as CUTLASS passes them.
func TestTensorMapInStructure(t *testing.T) {
	const text = `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 p[256], .param .u64 out) .reqntid 64
{
	.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<4>;
	.shared .align 128 .b8 box[4096];
	.shared .align 8 .b64 full;
	mov.u32 %r1, %tid.x; mov.u32 %r2, full; mov.u32 %r3, box;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra start;
	mbarrier.init.shared.b64 [%r2], 1;
	fence.mbarrier_init.release.cluster;
start:
	bar.sync 0;
	@%p1 bra wait;
	mov.b64 %d1, p; add.s64 %d2, %d1, 64; cvta.param.u64 %d3, %d2;
	ld.param.u32 %r4, [p+192];
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r4;
	mov.u32 %r5, 0;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d3, {%r5, %r5}], [%r2];
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
	@!%p2 bra wait;
	shl.b32 %r6, %r1, 1; add.u32 %r7, %r3, %r6; ld.shared.b16 %r8, [%r7];
	ld.param.u64 %d4, [out]; mul.wide.u32 %d5, %r1, 4; add.u64 %d6, %d4, %d5;
	st.global.u32 [%d6], %r8;
	ret;
}
`
	right := strings.Replace(text, "ld.shared.b16 %r8", ".reg .b16 %h; ld.shared.b16 %h", 1)
	right = strings.Replace(right, "\tld.param.u64 %d4", "\tcvt.u32.u16 %r8, %h; ld.param.u64 %d4",
		1)
	wrong := strings.Replace(right, "bra wait;\n\tmov.b64 %d1", "bra past;\n\tmov.b64 %d1", 1)
	wrong = strings.Replace(wrong, "\t@!%p2 bra wait;\n", "\t@!%p2 bra wait;\npast:\n", 1)
	for _, test := range []struct{ name, text, want string }{
		{"right", right, "clean"}, {"one thread waits", wrong, "review"},
	} {
		for _, note := range []string{"p[64] = a tensor map", "p[192] = 128"} {
			t.Run(test.name, func(t *testing.T) { expect(t, test.text, test.want, note) })
		}
	}
}

// TestBoxes checks the boxes that are derived for tensor maps: from comments, from the copies, and
// from the bytes that mbarriers expect.
func TestBoxes(t *testing.T) {
	kernel := func(params, copies string) string {
		return `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(` + params + `) .reqntid 64
{
	.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<4>;
	.shared .align 128 .b8 box[65536];
	.shared .align 8 .b64 full[2];
	mov.u32 %r1, %tid.x; mov.u32 %r2, full; mov.u32 %r3, box; mov.u32 %r9, 0;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra start;
	mbarrier.init.shared.b64 [%r2], 1; mbarrier.init.shared.b64 [%r2+8], 1;
	fence.mbarrier_init.release.cluster;
start:
	bar.sync 0;
	@%p1 bra wait;
	mov.b64 %d3, a; cvta.param.u64 %d1, %d3; mov.b64 %d4, b; cvta.param.u64 %d2, %d4;
	` + copies + `
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
	@!%p2 bra wait;
	ret;
}
`
	}
	const maps = ".param .align 64 .b8 a[128], .param .align 64 .b8 b[128]"
	const noted = `.param .align 64 .b8 a[128], // ptxdsl:element 4 ptxdsl:box 8x16
	.param .align 64 .b8 b[128] // ptxdsl:element 1 ptxdsl:box 2x128
`
	arrive := func(n string) string {
		return "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], " + n + ";"
	}
	load := func(dims, to, from, at, mode string) string {
		return "cp.async.bulk.tensor." + dims + ".shared::cluster.global" + mode +
			".mbarrier::complete_tx::bytes [" + to + "], [" + from + ", {" + at + "}], [%r2]"
	}
	const ring = "shl.b32 %r4, %r9, 13; add.u32 %r5, %r3, %r4; shl.b32 %r6, %r9, 11; add.u32 %r10, %r3, %r6; add.u32 %r7, %r10, 16384;"
	tests := []struct{ name, text, want, note string }{
		{"comments", kernel(noted, arrive("768")+load("2d", "%r3", "%d1", "4, %r9", "")+";"+
			load("2d", "%r3+1024", "%d2", "%r9, %r9", "")+";"), "clean",
			"a = a tensor map of boxes of [16 8] elements of 4 bytes, b = a tensor map of boxes of [128 2] elements of 1 byte"},
		{"a coordinate without a comment", kernel(maps, arrive("1024")+
			load("2d", "%r3", "%d1", "4, %r9", "")+";"), "incomplete",
			"check assumed the elements of the tensor map"},
		{"a wrong coordinate",
			kernel(noted, arrive("512")+load("2d", "%r3", "%d1", "2, %r9", "")+";"),
			"error", "the first coordinate 2 is 8 bytes into a row"},
		{"other dimensions",
			kernel(maps, arrive("512")+load("3d", "%r3", "%d1", "%r9, %r9, %r9", "")+
				";"+load("1d", "%r3+1024", "%d2", "%r9", "")+";"), "clean",
			"a = a tensor map of boxes of [128 2 1] bytes, b = a tensor map of boxes of [256] bytes"},
		{"im2col", kernel(maps, arrive("1024")+".reg .b16 %h<3>; mov.u16 %h1, 0;"+
			load("4d", "%r3", "%d1", "%r9, %r9, %r9, %r9", ".im2col")+", {%h1, %h1};"), "clean",
			"a = a tensor map of boxes of [128 8 1 1] bytes"},
		{"parts of stages", kernel(maps, ring+"mov.u32 %r8, 10240;"+arrive("%r8")+
			load("2d", "%r5", "%d1", "%r9, %r9", "")+";"+load("2d", "%r7", "%d2", "%r9, %r9", "")+
			";"),
			"clean",
			"a = a tensor map of boxes of [128 64] bytes, b = a tensor map of boxes of [128 16] bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			expect(t, test.text, test.want, test.note)
		})
	}
}
