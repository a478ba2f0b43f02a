// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// called is a kernel that calls a function, and the same kernel with the function inlined by hand.
const (
	called = `.version 8.7
.target TARGET
.address_size 64
.func (.param .b32 r) blend(.param .b32 x, .param .align 8 .b8 y[8])
{
	.reg .pred %p;
	.reg .f32 %f<9>;
	ld.param.f32 %f1, [x];
	ld.param.v2.f32 {%f2, %f3}, [y];
	setp.gt.f32 %p, %f1, 0f00000000;
	@%p bra UP;
	fma.rn.f32 %f4, %f2, %f3, %f1;
	st.param.f32 [r], %f4;
	ret;
UP:
	mul.f32 %f5, %f2, %f1;
	st.param.f32 [r], %f5;
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .f32 %f<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	ld.global.f32 %f1, [%rd1];
	ld.global.f32 %f2, [%rd1+4];
	ld.global.f32 %f3, [%rd1+8];
	{
	.param .b32 a;
	.param .align 8 .b8 b[8];
	.param .b32 c;
	st.param.f32 [a], %f1;
	st.param.v2.f32 [b], {%f2, %f3};
	call.uni (c), blend, (a, b);
	ld.param.f32 %f4, [c];
	}
	add.f32 %f5, %f4, %f1;
	st.global.f32 [%rd1+12], %f5;
	ret;
}
`
	written = `.version 8.7
.target TARGET
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %p;
	.reg .f32 %f<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	ld.global.f32 %f1, [%rd1];
	ld.global.f32 %f2, [%rd1+4];
	ld.global.f32 %f3, [%rd1+8];
	setp.gt.f32 %p, %f1, 0f00000000;
	@%p bra UP;
	fma.rn.f32 %f4, %f2, %f3, %f1;
	bra DONE;
UP:
	mul.f32 %f4, %f2, %f1;
DONE:
	add.f32 %f5, %f4, %f1;
	st.global.f32 [%rd1+12], %f5;
	ret;
}
`
)

// TestInlined checks that a kernel with a call measures like the same kernel inlined by hand.
func TestInlined(t *testing.T) {
	call := strings.ReplaceAll(called, "TARGET", "sm_90")
	same := strings.ReplaceAll(written, "TARGET", "sm_90")
	for _, test := range []struct {
		name string
		near int // accepted difference: a remaining move may cost or save a register
	}{{"lean", 1}, {"early", 1}, {"dense", 1}, {"calls", 0}, {"predicates", 0}, {"ldglobal", 0},
		{"blocks", 0}} {
		want, got := feature(t, same, test.name), feature(t, call, test.name)
		if got < want-test.near || got > want+test.near {
			t.Errorf("%s: %d, and %d where the body is written out", test.name, got, want)
		}
	}
	if feature(t, call, "inlined") != 1 || feature(t, same, "inlined") != 0 {
		t.Error("inlining is not told")
	}
}

// TestNotInlined checks that calls which cannot be inlined remain: recursive, of an undefined
// function, and through a pointer.
func TestNotInlined(t *testing.T) {
	text := `.version 8.7
.target sm_90
.address_size 64
.extern .func far(.param .b32 x);
.func again(.param .b32 x)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [x];
	setp.eq.u32 %p, %r1, 0;
	@%p ret;
	add.u32 %r2, %r1, -1;
	{
	.param .b32 a;
	st.param.b32 [a], %r2;
	call.uni again, (a);
	}
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	{
	.param .b32 a;
	st.param.b32 [a], %r1;
	call.uni far, (a);
	}
	{
	.param .b32 b;
	st.param.b32 [b], %r1;
	call.uni again, (b);
	}
	{
	.param .b32 c;
	st.param.b32 [c], %r1;
	prototype: .callprototype _ (.param .b32 _);
	call %rd1, (c), prototype;
	}
	ret;
}
`
	if got := feature(t, text, "calls"); got != 3 {
		t.Errorf("%d calls are left", got)
	}
	if got := feature(t, text, "outside"); got != 1 {
		t.Errorf("%d calls lead away", got)
	}
}

// section is what a module for a debugger must have.
const section = ".section .debug_str\n{\n\t.b8 0\n}\n"

// TestDebug checks the rules of code for a debugger: nothing is folded, calls remain, and a kernel
// with calls has a minimum register count.
func TestDebug(t *testing.T) {
	plain := strings.ReplaceAll(written, "TARGET", "sm_90")
	for _, test := range []struct {
		name, text string
		least      int
	}{
		{"nothing is folded", strings.ReplaceAll(written, "TARGET", "sm_90, debug") + section,
			feature(t, plain, "dense") + 1},
		{"calls stay", strings.ReplaceAll(called, "TARGET", "sm_90, debug") + section, 22},
	} {
		if got := feature(t, test.text, "dense"); got < test.least {
			t.Errorf("%s: %d registers, not %d", test.name, got, test.least)
		}
	}
	if got := feature(t, strings.ReplaceAll(called, "TARGET", "sm_90, debug")+section,
		"calls"); got != 1 {
		t.Errorf("%d calls", got)
	}
}

// TestKnown measures values that ptxas computes before the kernel runs, and if/else branches that
// write registers of their own.
func TestKnown(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"addresses of local variables", `
.local .b32 v[4];
ld.param.u64 %rd1, [p];
mov.u64 %rd2, v;
cvta.local.u64 %rd3, %rd2;
add.s64 %rd4, %rd3, 8;
mov.u32 %r1, 3;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, %tid.x;
st.u32 [%rd4], %r3;
ld.u32 %r4, [%rd3];
add.u32 %r5, %r4, %r2;
st.global.u32 [%rd1], %r5;
ret;`, "3: st.global.u32"},
	} {
		k := pressure.Of(module(t, test.name, kernel("sm_90", "", test.body)))[0]
		if got := fmt.Sprintf("%d: %s", k.Peak.Words, k.Peak.Instr.Op); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	loop := `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
L:
ld.global.u32 %r2, [%rd1];
setp.gt.u32 %p1, %r2, %r1;
@%p1 bra A;
add.u32 %r3, %r2, 1;
st.global.u32 [%rd1+4], %r3;
bra B;
A:
mul.lo.u32 %r3, %r2, %r1;
st.global.u32 [%rd1+8], %r3;
B:
add.u32 %r1, %r1, %r3;
setp.lt.u32 %p2, %r1, 4096;
@%p2 bra L;
ret;`
	if got := feature(t, kernel("sm_90", "", loop), "crossing"); got > 3 {
		t.Errorf("%d words are live between blocks, want at most 3: values that each iteration computes anew are counted",
			got)
	}
}
