// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// kernel is the body of a kernel with 64 threads. The register %out is evaluated.
const kernel = `.version 9.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .u32 n) {
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.reg .pred %p<4>;
.reg .b32 %out;
.reg .b64 %wide;
.reg .pred %yes;
.shared .align 16 .b8 tile[256];
`

// TestValue evaluates a register for some threads.
func TestValue(t *testing.T) {
	constant := func(n int64) thread.Value { return thread.Value{Kind: thread.Constant, N: n} }
	unknown, launch, possible := thread.Value{}, thread.Value{Kind: thread.Launch},
		thread.Value{Kind: thread.Possible}
	for _, test := range []struct {
		name, body, out string
		want            []thread.Value // for threads 0 and 37
	}{
		{"index", "mov.u32 %out, %tid.x;", "%out", []thread.Value{constant(0), constant(37)}},
		{"arithmetic",
			"mov.u32 %r0, %tid.x; mad.lo.u32 %r1, %r0, 3, 5; shr.u32 %r2, %r1, 2; xor.b32 %out, %r2, 1;",
			"%out", []thread.Value{constant(0), constant(28)}},
		{"signed",
			"mov.u32 %r0, %tid.x; sub.s32 %r1, 5, %r0; shr.s32 %r2, %r1, 1; max.s32 %out, %r2, -3;",
			"%out", []thread.Value{constant(2), constant(-3)}},
		{"wide", "mov.u32 %r0, %tid.x; sub.s32 %r1, 1, %r0; mul.wide.s32 %wide, %r1, 8;", "%wide",
			[]thread.Value{constant(8), constant(-288)}},
		{"division by zero", "mov.u32 %r0, %tid.x; div.u32 %out, 100, %r0;", "%out",
			[]thread.Value{unknown, constant(2)}},
		{"choice", "mov.u32 %r0, %laneid; setp.ge.u32 %p0, %r0, 4; selp.b32 %out, 7, 9, %p0;",
			"%out", []thread.Value{constant(9), constant(7)}},
		{"saturated", "mov.u32 %r0, %tid.x; add.sat.s32 %out, %r0, 1;", "%out",
			[]thread.Value{constant(1), constant(38)}},
		{"parameter", "ld.param.u32 %r0, [n]; add.u32 %out, %r0, 4;", "%out",
			[]thread.Value{launch, launch}},
		{"bound", "ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; setp.lt.u32 %yes, %r1, %r0;", "%yes",
			[]thread.Value{possible, possible}},
		{"equal to a parameter",
			"ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; setp.eq.u32 %yes, %r1, %r0;", "%yes",
			[]thread.Value{unknown, unknown}},
		{"never and unknown",
			"mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 0; ld.shared.u32 %r1, [tile]; setp.eq.u32 %p1, %r1, 0; and.pred %yes, %p0, %p1;",
			"%yes", []thread.Value{constant(0), constant(0)}},
		{"loaded", "ld.shared.u32 %out, [tile];", "%out", []thread.Value{unknown, unknown}},
		{"written twice", "mov.u32 %out, 1; mov.u32 %out, 2;", "%out",
			[]thread.Value{unknown, unknown}},
		{"under a guard", "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; @%p0 mov.u32 %out, 1;",
			"%out", []thread.Value{unknown, unknown}},
	} {
		e, _, r := evaluator(t, test.body, test.out)
		var got []thread.Value
		for _, n := range []int{0, 37} {
			e.Begin(n)
			got = append(got, e.Value(r))
		}
		e.End()
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

// TestExact evaluates pure integer instructions, as the emulator does, for thread 37 = 0b100101.
func TestExact(t *testing.T) {
	for _, test := range []struct {
		body string
		want int64
	}{
		{"brev.b32 %r1, %r0; shr.u32 %out, %r1, 26;", 0b101001},
		{"bfe.u32 %out, %r0, 2, 4;", 0b1001},
		{"bfe.s32 %out, %r0, 2, 4;", -7},
		{"bfi.b32 %out, %r0, 0, 8, 4;", 0x500},
		{"popc.b32 %out, %r0;", 3},
		{"clz.b32 %out, %r0;", 26},
		{"bfind.u32 %out, %r0;", 5},
		{"prmt.b32 %out, %r0, 7, 0x4040;", 0x07250725},
		{"shf.l.wrap.b32 %out, %r0, %r0, 31;", -0x7fffffee & 0xffffffff},
		{"lop3.b32 %out, %r0, 3, 8, 0xfe;", 0b101111},
		{"mul24.lo.u32 %out, %r0, 3;", 111},
		{"mul.hi.u32 %out, %r0, -1;", 36},
		{"mad.hi.s32 %out, %r0, -1, 5;", 4},
		{"sad.u32 %out, %r0, 40, 1;", 4},
		{"neg.s32 %r1, %r0; abs.s32 %out, %r1;", 37},
		{"neg.s32 %out, %r0;", -37},
		{"cnot.b32 %out, %r0;", 0},
		{"slct.s32.s32 %out, 1, 2, %r0;", 1},
		{"setp.gt.u32 %p0, %r0, 3; setp.lt.and.u32 %p1, %r0, 40, !%p0; selp.b32 %out, 1, 2, %p1;", 2},
		{"setp.gt.u32 %p0, %r0, 3; xor.pred %p1, %p0, %p0; selp.b32 %out, 1, 2, %p1;", 2},
		{"mov.b64 %rd0, {%r0, 7}; mov.b64 {%r1, %out}, %rd0;", 7},
		{"mul.wide.u32 %rd0, %r0, 256; mov.b64 {%out, %r1}, %rd0;", 37 * 256},
		{"dp4a.u32.u32 %out, %r0, 2, 1;", 75},
		{"mov.b32 %r1, 0x10001; add.s16x2 %out, %r0, %r1;", 0x10026},
	} {
		e, _, r := evaluator(t, "mov.u32 %r0, %tid.x; "+test.body, "%out")
		e.Begin(37)
		if got := e.Value(r); got != (thread.Value{Kind: thread.Constant, N: test.want}) {
			t.Errorf("%s: %+v, want %#x", test.body, got, test.want)
		}
		e.End()
	}
}

// TestAddress finds the variable that an address is in.
func TestAddress(t *testing.T) {
	e, _, r := evaluator(t,
		"mov.u32 %r0, tile; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 3; add.u32 %out, %r0, %r2;",
		"%out")
	defer e.End()
	e.Begin(40)
	at, ok := e.AddressIn(r, -4)
	area, offset, found := e.Find(isa.Shared, at)
	if !ok || !found || area.Name != "tile" || area.Size != 256 || offset != 316 {
		t.Errorf("%t, %t: byte %d of %+v; want byte 316 of tile", ok, found, offset, area)
	}
	if _, _, found := e.Find(isa.Global, at); found {
		t.Error("an address in shared memory is found in global memory")
	}
}

// TestUniform specifies which registers are the same in all threads, and which of their bits are
// known.
func TestUniform(t *testing.T) {
	for _, test := range []struct {
		body string
		want bool
		bits thread.LowBits
	}{
		{"ld.param.u32 %r0, [n]; mov.u32 %r1, %ctaid.x; mad.lo.u32 %out, %r0, 16, %r1;", true,
			thread.LowBits{N: 0, Bits: 4}},
		{"ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mad.lo.u32 %out, %r0, 16, %r1;", false,
			thread.LowBits{N: 5, Bits: 4}},
		{"ld.shared.u32 %r0, [tile]; shl.b32 %r1, %r0, 3; add.u32 %out, %r1, 2;", false,
			thread.LowBits{N: 2, Bits: 3}},
	} {
		e, _, r := evaluator(t, test.body, "%out")
		e.Begin(5)
		if got := e.Uniform(r); got != test.want {
			t.Errorf("%s: the same in all threads: %t, want %t", test.body, got, test.want)
		}
		if got := e.LowBits(r, 0); got != test.bits {
			t.Errorf("%s: low bits %+v, want %+v", test.body, got, test.bits)
		}
		e.End()
	}
}

// TestLinear compares sums that two roles compute separately.
func TestLinear(t *testing.T) {
	body := "mov.u32 %r0, %ctaid.x; shl.b32 %r1, %r0, 7; add.u32 %out, %r1, 64; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r2, %r3, 128, 96;"
	e, f, r := evaluator(t, body, "%out")
	defer e.End()
	e.SetIteration(thread.AnyBlock)
	e.Begin(0)
	a, ok := e.Linear(&ir.Operand{Kind: ir.Register, Reg: r})
	b, too := e.Linear(&ir.Operand{Kind: ir.Register, Reg: register(f, "%r2")})
	if !ok || !too || !a.Comparable(b) || b.N-a.N != 32 || a.BlockStep() != 128 {
		t.Errorf("%t %+v, %t %+v: want a difference of 32 and steps of 128", ok, a, too, b)
	}
}

// evaluator returns an evaluator of the registers out and %r2.
func evaluator(t *testing.T, body, out string) (*thread.Eval, *ir.Func, *ir.Reg) {
	t.Helper()
	file, faults := ptx.Parse("k.ptx", kernel+body+"\nret;\n}\n")
	m, more := lift.Module(file)
	if list := append(faults, more...); list.Errors() > 0 {
		t.Fatal(list)
	}
	f := m.Funcs()[0]
	r := register(f, out)
	f.Annotations = &ir.Annotations{Block: [3]int{64, 1, 1}, Uses: []ir.Use{
		{What: &ir.Access{Reg: r}}, {What: &ir.Access{Reg: register(f, "%r2")}},
	}}
	return thread.New(f), f, r
}

// register returns the register of a name, or nil.
func register(f *ir.Func, name string) *ir.Reg {
	for _, r := range f.Regs {
		if r.Name == name {
			return r
		}
	}
	return nil
}
