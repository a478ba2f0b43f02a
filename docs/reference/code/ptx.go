// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/dsl/op"
)

// Rotate builds a kernel instruction by instruction: it rotates each word left by 8 bits.
func Rotate(m *dsl.Module) {
	k := m.Kernel("rotate", dsl.Threads(256))
	x := dsl.Param[dsl.U64](k, "x")
	at := dsl.MulWide[dsl.U64](k.TID().X, k.U32(4)).Add(x)

	v := dsl.NewReg[dsl.U32](k) // a register that an instruction writes
	k.Ins("ld.global.u32", v, dsl.At(at, 0))
	w := dsl.Result[dsl.U32](k, "shf.l.wrap.b32", v, v, 8) // an instruction with one new result
	k.Ins("st.global.u32", dsl.At(at, 0), w)
}

// Text shows instructions that are written as text.
func Text(m *dsl.Module) {
	k := m.Kernel("text", dsl.Threads(32))
	p := dsl.Param[dsl.U64](k, "p")
	f1, f2 := dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.F32](k)
	f3, f4 := dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.F32](k)

	//cuda: `mov.u32 %r1, %tid.x;`
	r1 := dsl.Result[dsl.U32](k, "mov.u32", "%tid.x")

	//cuda: `ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];`
	k.Ins("ld.global.nc.v4.f32", dsl.List(f1, f2, f3, f4), dsl.At(p, 16))

	//cuda: `lop3.b32 %r2, %r1, 0xff, %r1, 0xea;`
	r2 := dsl.Result[dsl.U32](k, "lop3.b32", r1, 0xff, r1, 0xea)

	//cuda: `setp.lt.u32 %p1, %r1, %r2;`
	p1 := r1.LT(r2)

	//cuda: `LOOP: ... @%p1 bra LOOP;`
	loop := k.NewLabel("LOOP")
	k.PlaceLabel(loop)
	k.Ins("st.global.v4.f32", dsl.At(p, 0), dsl.List(f1, f2, f3, f4))
	k.BranchIf(p1, loop)

	//cuda: `@%p1 st.global.f32 [%rd1], %f1;`
	k.When(p1, func() { k.Ins("st.global.f32", dsl.At(p, 0), f1) })

	//cuda: `elect.sync _|%p2, -1;`
	p2 := k.Elect()

	//cuda: `%lanemask_le`
	use(dsl.Special[dsl.U32](k, "%lanemask_le"))
	use(p2)
}

// Methods shows instructions that are written as methods of package dsl/op.
func Methods(m *dsl.Module) {
	k := m.Kernel("methods", dsl.Threads(32))
	ptx := op.On(k)
	rd1 := dsl.Param[dsl.U64](k, "p")
	p1, rs1 := dsl.NewReg[dsl.Pred](k), dsl.NewReg[dsl.B16](k)
	f1, f2 := dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.F32](k)
	f3, f4 := dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.F32](k)

	//cuda: `bar.sync 0;`
	ptx.Bar().Sync().Do(0)

	//cuda: `ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];`
	ptx.Ld().Global().NC().V4().F32().Do(dsl.List(f1, f2, f3, f4), dsl.At(rd1, 16))

	//cuda: `cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;`
	ptx.Cvt().RN().SatFinite().E4M3x2().F32().Do(rs1, f1, f2)

	//cuda: `elect.sync _|%p1, -1;`
	ptx.Elect().Sync().Do(dsl.Pair(dsl.Sink, p1), -1)

	//cuda: `mad.lo.cc.u32`, `madc.hi.u32`
	use(ptx.MadLo().CC(), ptx.MadcHi())

	//cuda:text a modifier that depends on a Go condition
	ld := ptx.Ld().Global()
	if m.Has(80) {
		ld = ld.NC()
	}
	ld.F32().Do(f3, dsl.At(rd1, 0))

	k.When(p1, func() { k.Ins("st.global.b16", dsl.At(rd1, 0), rs1) })
	k.Ins("st.global.v2.f32", dsl.At(rd1, 8), dsl.List(f3, f4))
}
