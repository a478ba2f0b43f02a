// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// stream returns typical instructions of compilers, with operands resolved.
func stream() (list []struct {
	text, op string
	args     []isa.Arg
}) {
	r := func(t isa.Type) isa.Arg { return isa.Arg{Kind: isa.ArgReg, Type: t} }
	n := func(v int64) isa.Arg { return isa.Arg{Kind: isa.ArgInt, Value: v} }
	at := func(a ...isa.Arg) isa.Arg { return isa.Arg{Kind: isa.ArgAddress, Elems: a} }
	vec := func(a ...isa.Arg) isa.Arg { return isa.Arg{Kind: isa.ArgVector, Elems: a} }
	b32, b64, f32, p := r(isa.B32), r(isa.B64), r(isa.F32), r(isa.Predicate)
	add := func(text, op string, args ...isa.Arg) {
		list = append(list, struct {
			text, op string
			args     []isa.Arg
		}{text, op, args})
	}
	add("\tld.param.b64 \t%rd1, [kernel_param_0];\n", "ld.param.b64", b64,
		at(isa.Arg{Kind: isa.ArgSym, Space: isa.Param, Type: isa.B64}))
	add("\tcvta.to.global.u64 \t%rd2, %rd1;\n", "cvta.to.global.u64", b64, b64)
	add("\tmov.u32 \t%r1, %ctaid.x;\n", "mov.u32", b32, isa.Arg{Kind: isa.ArgSreg, Type: isa.U32})
	add("\tmad.lo.s32 \t%r4, %r1, %r2, %r3;\n", "mad.lo.s32", b32, b32, b32, b32)

	add("\tsetp.ge.s32 \t%p1, %r4, %r5;\n", "setp.ge.s32", p, b32, b32)
	add("\tmul.wide.s32 \t%rd3, %r4, 4;\n", "mul.wide.s32", b64, b32, n(4))
	add("\tadd.s64 \t%rd4, %rd2, %rd3;\n", "add.s64", b64, b64, b64)
	add("\tld.global.v4.b32 \t{%r6, %r7, %r8, %r9}, [%rd4+16];\n", "ld.global.v4.b32",
		vec(b32, b32, b32, b32), at(b64))
	add("\tfma.rn.f32 \t%f4, %f1, %f2, %f3;\n", "fma.rn.f32", f32, f32, f32, f32)
	add("\tshl.b32 \t%r10, %r6, 2;\n", "shl.b32", b32, b32, n(2))
	add("\tand.b32 \t%r11, %r10, 255;\n", "and.b32", b32, b32, n(255))
	add("\tst.global.f32 \t[%rd4], %f4;\n", "st.global.f32", at(b64), f32)
	add("\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 \t{ %f1, %f2, %f3, %f4 }, { %r1, %r2, %r3, %r4 }, { %r5, %r6 }, { %f1, %f2, %f3, %f4 };\n",
		"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", vec(f32, f32, f32, f32),
		vec(b32, b32, b32, b32), vec(b32, b32), vec(f32, f32, f32, f32))
	return list
}

func BenchmarkCheck(b *testing.B) {
	target, _ := isa.ParseTarget("sm_90a")
	m := isa.NewMatcher(isa.Newest(), target)
	list := stream()
	size := 0
	for _, x := range list {
		size += len(x.text)
		if got := m.Check(x.op, x.args); got != nil {
			b.Fatalf("%s: %+v", x.text, got)
		}
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for i := range list {
			m.Check(list[i].op, list[i].args)
		}
	}
}

// BenchmarkResolve measures resolving an opcode for the first time.
func BenchmarkResolve(b *testing.B) {
	target, _ := isa.ParseTarget("sm_90a")
	list := stream()
	b.ReportAllocs()
	for b.Loop() {
		m := isa.NewMatcher(isa.Newest(), target)
		for i := range list {
			m.Check(list[i].op, list[i].args)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/opcode")
}
