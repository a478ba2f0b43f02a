// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

type (
	u32 = dsl.Reg[dsl.U32]
	f32 = dsl.Reg[dsl.F32]
)

// A wrongKernel has one mistake, on the line with the want comment.
type wrongKernel struct {
	target string
	build  func(m *dsl.Module, k *dsl.Kernel)
}

// wrongKernels are kernels with one mistake each. Every finding must be at a line with a want
// comment, and every want comment must match a finding.
var wrongKernels = []wrongKernel{
	// Values.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { var x f32; _ = k.F32(1).Var().Add(x) }},                   // want `D201: Reg of type \.f32 is a zero value, not created by a builder call`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { var x f32; x.Set(k.F32(1)) }},                             // want `D201: Set is called on a zero Reg of type \.f32; declare a variable with Var`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.F32(1).Set(k.F32(2)) }},                                 // want `D201: Set is called on a constant; declare a variable with Var`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { _ = m.Kernel("other").U32(1).Var().Add(k.U32(1).Var()) }}, // want `D203: value of kernel k is used in other`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { k.If(m.Kernel("other").U32(1).Var().EQI(1), func() {}) }}, // want `D203: value of kernel other is used in k`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U8(300) }},                                              // want `D204: 300 is not a valid \.u8`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U32(-1) }},                                              // want `D204: -1 is not a valid \.u32`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.S32(1 << 40) }},                                         // want `D204: 1099511627776 is not a valid \.s32`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.ConstF[dsl.U32](k, 1.5) }},                            // want `D204: 1\.5 is not a valid \.u32`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U32(7).Var().AddI(1 << 33) }},                           // want `D204: 8589934592 is not a valid \.u32`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U32(7).Var().ShlI(70) }},                                // want `D204: shift amount is 70, expected 0 to 31`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U32(7).Var().CeilDiv(0) }},                              // want `D204: divisor of CeilDiv is 0, expected a positive number`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.F32(7).Var().And(k.F32(1)) }},                           // want `F203: and has no modifier \.f32; expected one of \.b16 \.b32 \.b64 \.pred`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.F32(7).Var().ShlI(1) }},                                 // want `F203: shl has no modifier \.f32; expected one of \.b16 \.b32 \.b64`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.F32(7).Var().Rem(k.F32(2)) }},                           // want `F203: rem has no modifier \.f32; expected one of \.s16 \.s32 \.s64 \.u16 \.u32 \.u64`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U32(7).Var().Sqrt() }},                                  // want `F203: sqrt has no modifier \.u32; expected one of \.f32 \.f64`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U32(7).Var().Neg() }},                                   // want `F203: neg has no modifier \.u32; expected one of \.bf16 \.bf16x2 \.f16 .*\.s16 \.s32 \.s64`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.F64(7).Var().Exp2() }},                                  // want `F203: ex2 has no modifier \.f64; expected one of \.f16 \.f16x2 \.f32`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.F32(7).Var().Add(k.F32(1), dsl.ReLU) }},                 // want `F203: add has no modifier \.relu`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.F16(7).Div(k.F16(2)) }},                                 // want `F203: div has no modifier \.f16; expected one of \.f32 \.f64`
	{"sm_75", func(_ *dsl.Module, k *dsl.Kernel) { k.BF16(7).Add(k.BF16(2)) }},                               // want `F402: \.bf16 of fma requires PTX 7\.0 on sm_80 or later, but the module is for PTX 9\.5 and sm_75`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Bits[dsl.U64](k.F32(1).Var()) }},                      // want `D205: cannot reinterpret \.f32 as \.u64: the sizes differ, 32 bits and 64 bits`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Unpack[dsl.F16](k.U64(1)) }},                          // want `D205: \.u64 does not consist of two halves of type \.f16`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Widen(k.U32(1).Var()) }},                              // want `D205: cannot widen \.u32, expected \.f16x2, \.bf16x2, or a pair of 8, 6 or 4 bits`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Pack[dsl.E4M3x2](k.F32(1).Var(), k.F32(2).Var()) }},   // want `F402: \.e4m3x2 of cvt requires PTX 7\.8 on sm_90 or later, or PTX 8\.1 on sm_89 or later, but`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.To[dsl.F16](k.F32(1).Var(), dsl.RNI) }},               // want `F205: \.rni cannot be combined with the other modifiers here, expected one of \.rm \.rn \.rp \.rz`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.NewReg[dsl.U8](k).ShuffleXor(1)
		dsl.NewReg[dsl.B128](k).ShuffleXor(1) // want `D205: shuffle is not available for \.b128, expected 16, 32 or 64 bits`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U32(1).Redux("mul") }},           // want `D205: Redux has no operation "mul", expected add, min, max, and, or, xor`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.U32(1).Var().Named("9 lives") }}, // want `D103: "9 lives" is not a valid register name`
	// Scopes.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		var x f32
		k.If(k.TID().X.EQI(0), func() { x = k.F32(1).Var() })
		x.Add(x) // want `D202: value defined inside an If is used after it; it may be undefined here`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		var x u32
		for i := range k.RangeI(0, 4) {
			x = i.AddI(1)
		}
		k.BreakIf(k.TID().X.EQI(0))              // want `D206: BreakIf is called outside of a kernel loop`
		dsl.Global[dsl.U32](k, "a").StoreI(0, x) // want `D202: value defined inside a loop is used after it; it may be undefined here`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		var a dsl.Array[dsl.F32]
		p := dsl.Global[dsl.F32](k, "p")
		k.If(k.TID().X.EQI(0), func() { a = p.At(k.TID().X) })
		a.LoadFirst() // want `D202: address defined inside an If is used after it; it may be undefined here`
	}},
	// Control flow.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for i := range k.RangeI(0, 4) { // want `D206: Go break or return leaves the body of a kernel loop, which is built only once; use k\.Break or k\.BreakIf`
			if i.Type() == isa.U32 {
				break
			}
		}
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Break() }},                                                 // want `D206: Break is called outside of a kernel loop`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Continue() }},                                              // want `D206: Continue is called outside of a kernel loop`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.ContinueIf(k.TID().X.EQI(0)) }},                            // want `D206: ContinueIf is called outside of a kernel loop`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Branch(k.NewLabel("nowhere")) }},                           // want `D207: label nowhere is never placed`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { l := k.NewLabel("here"); k.PlaceLabel(l); k.PlaceLabel(l) }}, // want `D207: label here is placed twice`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		o := m.Kernel("o")
		l := o.NewLabel("l")
		o.PlaceLabel(l)
		k.Branch(l) // want `D203: k branches to a label of another kernel`
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		o := m.Kernel("o")
		l := o.NewLabel("l")
		o.PlaceLabel(l)
		k.PlaceLabel(l) // want `D203: label belongs to another kernel, but is placed in k`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.NewLabel("no name") }},                                             // want `D103: "no name" is not a valid label name|D207: label label is never placed`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { p := k.TID().X.EQI(0); k.When(p, func() { k.When(p, func() {}) }) }}, // want `D205: When is nested in When, but an instruction has only one predicate; combine the conditions with And from 0`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { p := k.TID().X.EQI(0); k.When(p, func() { k.If(p, func() {}) }) }},   // want `D205: branch is inside When, which predicates single instructions; use If from 0`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { p := k.TID().X.EQI(0); k.Unless(p, func() { k.Loop(k.Break) }) }},    // want `D205: loop is inside When, which predicates single instructions; use If from 0`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { p := k.TID().X.EQI(0); k.If(p, func() {}, func() {}, func() {}) }},   // want `D205: If takes one function for the else branch, got 2`
	// Instructions as text.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u33", k.U32(1).Var(), 1, 2) }},                         // want `F202: \.u33 is not a PTX modifier; did you mean \.u32`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("addd.u32", k.U32(1).Var(), 1, 2) }},                        // want `F201: unknown instruction addd; did you mean add`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32", k.U32(1).Var(), 1) }},                            // want `F301: add\.u32 takes 3 operands, found 2`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32", k.F32(1).Var(), 1, 2) }},                         // want `F303: operand 1 of add\.u32 is a \.f32 register, expected a \.u32 register`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32", k.U32(1).Var(), 1, "two") }},                     // want `D205: operand 3 of add\.u32 is a Go string; "two" is not a special register \(such as %tid\.x\), pass a variable or register as a Go value`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("add.u32", k.U32(1).Var(), 1, struct{}{}) }},                // want `D205: operand 3 of add\.u32 has the Go type struct \{\}, which is not an operand`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("ld.global.v3.f32", k.F32(1).Var(), dsl.At(k.U64(1), 0)) }}, // want `F202: \.v3 is not a PTX modifier; did you mean \.v2`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("wgmma.fence.sync.aligned") }},                              // want `F402: wgmma\.fence requires PTX 8\.0 on sm_90a, but the module is for PTX 9\.5 and sm_90`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("tcgen05.wait::ld.sync.aligned") }},                         // want `F402: tcgen05\.wait::ld requires PTX 8\.6 on the family of sm_100f`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Ins("elect.sync", dsl.Pair(dsl.Sink, k.TID().X.EQI(0)), 0xffffffff) // want `F402: elect requires PTX 8\.0 on sm_90 or later, but the module is for PTX 9\.5 and sm_80`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("bar.sync", 16) }},                              // want `F304: operand 1 of bar\.sync is the constant 16, expected a 32-bit integer register or`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("setp.lt.u32", k.U32(0).Var(), 1, 2) }},         // want `F303: operand 1 of setp\.lt\.u32 is a \.b32 register, expected a \.pred registe`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("mov.b32", k.U32(0).Var(), "%tidd.x") }},        // want `D205: %tidd\.x is not a special register; did you mean %tid\?`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("nanosleep.u32", dsl.NotP(k.TID().X.EQI(0))) }}, // want `F303: operand 1 of nanosleep\.u32 is a \.pred register negated with !, expect`
	// Memory.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").LoadVec(k.TID().X, 3) }},              // want `D301: vector has 3 x \.f32, expected a power of two of elements and at most 16 bytes`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").LoadVec(k.TID().X, 8) }},              // want `D301: vector has 8 x \.f32, expected a power of two of elements and at most 16 bytes`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").AtI(1).LoadFirstVec(4) }},             // want `D301: misaligned vector access: the vector has 16 bytes and the offset is 4, expected a multiple of 16`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a", 4).LoadI(4) }},                        // want `D301: index 4 is out of bounds: the array has 4 elements`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a", 4).LoadI(-1) }},                       // want `D301: index -1 is out of bounds: the array has 4 elements`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a", 0) }},                                 // want `D301: a has a dimension of 0, expected a positive number`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a", 1<<20) }},                             // want `D302: shared memory limit exceeded: a has 4194304 bytes, but a block of sm_90 has 232448`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a b", 4) }},                               // want `D103: "a b" is not a valid variable name`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a", 4); dsl.Shared[dsl.F32](k, "a", 4) }}, // want `D103: a is already a variable of k`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a", 4, 4).Index(k.TID().X) }},             // want `D301: 1 indices are given for an array of 2 dimensions`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a", 40).At64(k.U64(1)) }},                 // want `D301: 64-bit index is used in a memory space with 32-bit addresses`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.SharedBytes("a", 64, 24) }},                                     // want `D301: alignment is 24, expected a power of two`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a"); dsl.Global[dsl.F32](k, "a") }},       // want `D103: a is already a parameter or variable of k`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Param[dsl.F32](k, "7") }},                                     // want `D103: "7" is not a valid parameter name`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").LoadI(0, "L3::fast") }},               // want `F202: \.L3::fast is not a PTX modifier`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Shared[dsl.F32](k, "a", 4).LoadI(0, dsl.NC) }},                // want `F205: \.nc cannot be combined with the other modifiers here`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.F32](k, "a").Atomic("mul", k.U32(0), k.F32(1)) }},  // want `D205: Atomic "mul" is not available for \.f32: expected one of add, min, max, and, or, xor, inc, dec, exch`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { var a dsl.Array[dsl.F32]; a.StoreFirst(k.F32(1)) }},               // want `D201: array in Store is a zero value, not created by a builder call`
	{"sm_86", func(_ *dsl.Module, k *dsl.Kernel) {
		dsl.Shared[dsl.F32](k, "a", 20000)
		dsl.Shared[dsl.F32](k, "b", 20000) // want `D302: shared memory limit exceeded: the variables of k have 160000 bytes in all, but a block of sm_86 has 101376`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Local[dsl.F32](k, "", 4) }}, // want `D103: "" is not a valid variable name, or already declared`
	// Kernels and functions.
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("k") }},                                                   // want `D103: k is already declared in this module`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("2nd") }},                                                 // want `D103: "2nd" is not a valid kernel name, expected letters, digits, _ and \$, starting with a letter`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("big", dsl.Threads(2048)) }},                              // want `D103: block of \[2048 1 1\] threads cannot be launched, expected 1 to 1024 threads and at most 64 in z`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("deep", dsl.Threads(1, 1, 65)) }},                         // want `D103: block of \[1 1 65\] threads cannot be launched, expected 1 to 1024 threads and at most 64 in z`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("none", dsl.Threads(0)) }},                                // want `D103: block of \[0 1 1\] threads cannot be launched, expected 1 to 1024 threads and at most 64 in z`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("regs", dsl.MaxRegs(300)) }},                              // want `D103: MaxRegs is 300, expected 16 to 255`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("blocks", dsl.MinBlocks(0)) }},                            // want `D103: MinBlocks is 0, expected 1 to 32`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("most", dsl.MaxThreads(1025)) }},                          // want `D103: MaxThreads is 1025, expected 1 to 1024`
	{"sm_80", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("cluster", dsl.Cluster(2)) }},                             // want `D102: sm_80 does not support clusters, which need sm_90`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("cluster", dsl.Cluster(17)) }},                            // want `D103: cluster of \[17 1 1\] blocks cannot be launched, expected at most 16, and at most 8 unless the launch allows more`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { f := m.Func("f"); dsl.Arg[dsl.F32](f, "x"); k.Call(f) }},           // want `D303: f takes 1 arguments, got 0`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { f := m.Func("f"); dsl.Arg[dsl.F32](f, "x"); k.Call(f, k.U32(1)) }}, // want `D303: argument 1 of f has type \.u32, expected \.f32`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { dsl.Call[dsl.F32](k, m.Func("f")) }},                               // want `D303: result of f is used as \.f32, but the function has no result yet; call ReturnValue in the function before you build the call`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { k.Call(nil) }},                                                     // want `D303: called Func is a zero value, not created by a builder call`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f")
		dsl.ReturnValue(f, f.F32(1))
		dsl.ReturnValue(f, f.U32(1)) // want `D303: f returns \.u32 here and \.f32 elsewhere`
	}},
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) { k.Call(dsl.New("x", "sm_90").Func("f")) }}, // want `D203: f belongs to another module`
	// Tiles.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128) // want `D102: sm_80 does not support tensor maps, which need sm_90; use cp\.async`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 512, Cols: 64}, dsl.Swizzle128) // want `D401: tensor map a: 512x64 \.bf16 with a swizzle of 128 bytes: a tensor copy has at most 256 rows and 256 columns`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 96}, dsl.Swizzle128) // want `D401: tensor map a: 64x96 \.bf16 with a swizzle of 128 bytes: a row has 192 bytes, expected a multiple of the swizzle`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 4}, dsl.NoSwizzle) // want `D401: tensor map a: 64x4 \.bf16: the rows of a copy must be a multiple of 16 bytes`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle(96)) // want `D401: tensor map a: 64x64 \.bf16 with a swizzle of 96 bytes: the swizzle must be 32, 64 or 128 bytes`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { k.SharedTile("t", dsl.Tile{Type: isa.Bf16, Rows: 0, Cols: 64}) }}, // want `D401: tile has the size 0x64, expected at least one row and one column, and an element type other than \.pred`
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.SharedTile("t", dsl.Tile{Type: isa.Bf16, Rows: 8, Cols: 64, Swizzle: dsl.Swizzle128, Pad: 16}) // want `D401: 8x64 \.bf16 with a swizzle of 128 bytes: a tile can have a swizzle or padding, not both`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.SharedTile("t", dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128}).RowsFrom(4, 8) // want `D401: Rows selects rows 4 to 11 of 64x64 \.bf16 with a swizzle of 128 bytes, expected groups of eight rows`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.SharedTile("t", dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128}).Part(k.U32(0), 5) // want `D401: 64x64 \.bf16 with a swizzle of 128 bytes is split into 5 parts, expected a multiple of eight rows in each`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Accumulator(64, 128, isa.F32) }},                                    // want `D102: sm_90 does not support wgmma, which only sm_90a has; use TMEM on sm_100a, or WarpTile from sm_80 on`
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { k.Accumulator(32, 128, isa.F32) }},                                   // want `D401: accumulator has 32 rows, expected a multiple of 64 up to 256 in one warpgroup`
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { k.Accumulator(64, 300, isa.F32) }},                                   // want `D401: accumulator has 300 columns, expected a multiple of 8 up to 256`
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { k.Accumulator(64, 64, isa.Bf16) }},                                   // want `D401: accumulator has type \.bf16, expected \.f32, \.f16 or \.s32`
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { k.TMEM("acc", 128, 128, 2) }},                                        // want `D102: sm_90a does not support tensor memory, which only sm_100a and its family have; use Accumulator on sm_90a, or WarpTile from sm_80 on`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.TMEM("acc", 96, 128, 1) }},                                        // want `D401: accumulator in tensor memory has 96 rows, expected 64 or 128, or 256 for a CTA pair \(CTAPair\)`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.TMEM("acc", 128, 256, 3) }},                                       // want `D302: kernel uses 768 columns of tensor memory, expected at most 512`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.CTAPair() }},                                                      // want `D501: CTAPair is used in clusters of 1 blocks, expected Cluster\(2\) or another even number along x`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.ScaleMap("s", dsl.NVFP4, 100, 256) }},                             // want `D401: scale factors are declared for 100x256 with one per 16 elements, expected a multiple of 128 rows, or 64 or 192, and a multiple of 64 columns, at most 256`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.S8, isa.S32), 64, 64) }},   // want `D401: warp tile of 64x64 \.f32 does not fit m16n8k32 with \.s32, expected a multiple of 16 rows and 16 columns`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 60, 64) }}, // want `D401: warp tile of 60x64 \.f32 does not fit m16n8k16 with \.f32, expected a multiple of 16 rows and 16 columns`
	// Pipelines and mbarriers.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Barrier("b", 0) }},            // want `D501: mbarrier b expects 0 arrivals, expected 1 to 1048575`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Barriers("b", 2, 1).AtI(2) }}, // want `D501: mbarrier index 2 is out of bounds: array b has 2`
	{"sm_75", func(_ *dsl.Module, k *dsl.Kernel) { k.Barrier("b", 1) }},            // want `D102: sm_75 does not support mbarriers, which need sm_80; use Sync or NamedBarrier`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.NamedBarrier(48) }},           // want `D501: named barrier expects 48 threads, expected a multiple of 32`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Ins("ld.global.b32", dsl.NewReg[dsl.U32](k), dsl.Bracket(struct{}{})) // want `D205: part 1 of bracket has the Go type struct \{\}, which is not an operand`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("elect.sync", dsl.Pair(nil, dsl.NewReg[dsl.Pred](k)), -1) }}, // want `D205: operand is nil, expected a value, an address, a label or a number`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("mov.b32", dsl.NewReg[dsl.U32](k), dsl.Minus(nil)) }},        // want `D205: operand is nil, expected a value, an address, a label or a number`
	{"sm_80", func(m *dsl.Module, _ *dsl.Kernel) { m.Sampler("s") }},                                                  // want `D205: Sampler needs the option IndependentSamplers`
	{"sm_80", func(m *dsl.Module, _ *dsl.Kernel) { m.Texture("2d") }},                                                 // want `D103: "2d" is not a valid texref name`
	{"sm_80", func(m *dsl.Module, _ *dsl.Kernel) { m.Surface("k") }},                                                  // want `D103: k is already declared in this module`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Ins("suq.width.b32", k.U32(1).Var(), dsl.Bracket(dsl.New("o", "sm_80").Surface("s"))) // want `D203: s of another module is used in k`
	}},
	{"sm_80", func(m *dsl.Module, k *dsl.Kernel) {
		k.Ins("cvt.u16.u8", dsl.NewReg[dsl.U16](k), dsl.NewByte(m.Kernel("o"))) // want `D203: value of kernel o is used in k`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { dsl.CallParam[dsl.U32](k, "1") }},                            // want `D103: "1" is not a valid argument name`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.BranchTargets() }},                                         // want `D205: list of labels is empty`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.CallTargets() }},                                           // want `D205: list of functions is empty`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Prototype(isa.U32, 0) }},                                   // want `D205: prototype argument has no type`
	{"sm_80", func(m *dsl.Module, k *dsl.Kernel) { k.Ins("call", k.U64(1).Var(), m.Kernel("o").Prototype(0)) }}, // want `D203: list of kernel o is used in k`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Ins("call", dsl.New("o", "sm_80").Func("f")) }},            // want `: f belongs to another module`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, z := sparse(k, dsl.MMAFor(isa.F16, isa.F32), 64, isa.F16, 16)
		w.SparseMMA(z[0], k.U32(0), z[1], z[2:], k.U32(0)) // want `D401: SparseMMA is called with m16n8k16 of \.f16, a dense shape; use a shape from SparseMMAFor`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, z := sparse(k, dsl.SparseMMAFor(isa.F16, isa.F32), 64, isa.S8, 16)
		w.SparseMMA(z[0], k.U32(0), z[1], z[2:], k.U32(0)) // want `D401: operands of SparseMMA, 64x64 \.s8 with a swizzle of 128 bytes and 64x128 \.s8 with a swizzle of 128 bytes, do not match shape m16n8k32, which multiplies elements of \.f16: the element types differ`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, z := sparse(k, dsl.SparseMMAFor(isa.F16, isa.F32), 32, isa.F16, 16)
		w.SparseMMA(z[0], k.U32(0), z[1], z[2:], k.U32(0)) // want `D401: operands of SparseMMA, 64x32 \.f16 with a swizzle of 128 bytes and 2 tiles of 64x64 \.f16 with a swizzle of 128 bytes, have the wrong widths: A must have half as many columns as the tiles of B together`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, z := sparse(k, dsl.SparseMMAFor(isa.F16, isa.F32), 64, isa.F16, 8)
		w.SparseMMA(z[0], k.U32(0), z[1], z[2:], k.U32(0)) // want `D401: metadata tile 64x8 \.b8 of SparseMMA has the wrong shape, expected 64 rows of 16 bytes without a swizzle`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, z := sparse(k, dsl.SparseMMAFor(isa.F32, isa.F32), 32, isa.F32, 8)
		w.SparseMMA(z[0], k.U32(0), z[1], z[2:], k.U32(0)) // want `D401: SparseMMA is not available for m16n8k16, expected \.tf32 or a type of 4, 8 or 16 bits`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w, z := sparse(k, dsl.SparseMMAFor(isa.F16, isa.F32), 64, isa.F16, 16)
		w.MMA(z[0], k.U32(0), z[2], k.U32(0)) // want `D401: MMA is called with m16n8k32, a sparse shape; use SparseMMA`
	}},
	{"sm_75", func(_ *dsl.Module, k *dsl.Kernel) { k.AsyncPipeline("p", 2, dsl.Tile{Type: isa.F16, Rows: 8, Cols: 8}) }}, // want `D102: sm_75 does not support cp\.async, which needs sm_80`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.AsyncPipeline("p", 1, dsl.Tile{Type: isa.F16, Rows: 8, Cols: 8}) }}, // want `D501: pipeline p has 1 stages, expected 2 to 16`
	{"sm_80", func(m *dsl.Module, k *dsl.Kernel) {
		t := dsl.Tile{Type: isa.F16, Rows: 32, Cols: 64, Swizzle: dsl.Swizzle128}
		p := k.AsyncPipeline("p", 3, t, t)
		load := func(u32, dsl.AsyncStage) {}
		w := dsl.NewWarpTile[dsl.F32](m.Kernel("other"), dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		p.Multiply(k.U32(4), load, func(s dsl.AsyncStage) dsl.MMAStep { return w.MMAStep(s.Tile(0), k.U32(0), s.Tile(1), k.U32(0)) }) // want `D203: MMA mixes kernels: its tiles belong to k and k, its accumulator to other`
		p.Multiply(k.U32(4), load, func(dsl.AsyncStage) dsl.MMAStep { return dsl.MMAStep{} })                                         // want `D201: MMAStep passed to Multiply is a zero value or belongs to another kernel`
		mine, first := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16), true
		p.Multiply(k.U32(4), load, func(s dsl.AsyncStage) dsl.MMAStep { // want `D501: Multiply is called with different MMA steps; all stages must use one accumulator and one shape`
			if first {
				first = false
				return mine.MMAStep(s.Tile(0), k.U32(0), s.Tile(1), k.U32(0))
			}
			return dsl.MMAStep{}
		})
		p.Multiply(k.U32(4), load, nil) // want `D205: Multiply is called with a nil function`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.AsyncPipeline("p", 2, dsl.Tile{Type: isa.F16, Rows: 8, Cols: 7}) }}, // want `D401: tile 0 of pipeline p: 8x7 \.f16: rows must be a multiple of 16 bytes`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(dsl.OnWarp(0, "a", func() {}), dsl.OnWarp(0, "b", func() {})) // want `D502: warp 0 is in two roles, a and b`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Roles(dsl.OnWarps(2, 7, "a", func(u32) {})) }},         // want `D502: role a has warps 2 to 8, but the block has 8 warps`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Roles(dsl.OnWarp(0, "a", func() {}).Regs(40)) }},       // want `D502: role a has a register budget and consists of warp 0, expected whole warpgroups|F402: setmaxnreg\.dec requires PTX 8\.0 on sm_90a, or PTX 8\.6 on sm_100a or sm_110a, or PTX 8\.7 on sm_120a, or PTX 8\.8 on the family of sm_100f, sm_110f or sm_120f, but the module is for PTX 9\.5 and sm_90`
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) { k.Roles(dsl.OnWarpgroup(0, "a", func() {}).Regs(41)) }}, // want `D502: role a has a budget of 41 registers, expected a multiple of 8 from 24 to 256|F304: operand 1 of setmaxnreg\.dec\.sync\.aligned\.u32 is the constant 41, expected an integer constant: 24 to 256 in steps of 8`
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(dsl.OnWarpgroup(0, "a", func() {}).Regs(256), dsl.OnWarpgroup(1, "b", func() {}).Regs(256)) // want `D502: register budgets of the roles need 65536 registers, but the launch has 65280: 256 threads with 255 each`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(dsl.OnWarpgroup(0, "a", func() {}).Regs(40), dsl.OnWarpgroup(1, "b", func() {})) // want `D502: 1 of 2 roles have a register budget, expected all or none`
	}},
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) { m.Kernel("free").Roles(dsl.OnWarp(0, "a", func() {})) }}, // want `D502: Roles needs the block size; declare it with Threads or Warpgroups`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		k.Roles(dsl.OnWarp(0, "a", func() { k.Roles(dsl.OnWarp(1, "b", func() {})) })) // want `D502: Roles is called inside role a; roles cannot be nested from 0`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		p := k.Pipeline("p", 2, a.Feed()) // want `D501: deadlock: no thread arrives at p empty; no role consumes the stages that another produces`
		k.Roles(dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(k.U32(4)) {
				s.Load(a, dsl.TileAt(s.Iteration(), s.Iteration()))
			}
		}))
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		p := k.Pipeline("p", 2, a.Feed(), b.Feed())
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(k.U32(4)) { // want `D501: body of Produce does not load b: the stage would never become full from -2`
					s.Load(a, dsl.TileAt(s.Iteration(), s.Iteration()))
					s.Load(a, dsl.TileAt(s.Iteration(), s.Iteration())) // want `D501: a is loaded twice into one stage, but the mbarrier of the stage expects its bytes only once from -2 from -4`
				}
			}),
			dsl.OnWarpgroup(1, "math", func() {
				acc := k.Accumulator(64, 32, isa.F32)
				for s := range p.Consume(k.U32(4)) {
					acc.MMA(s.Tile(a), s.Tile(b)) // want `D401: operands of MMA, 64x64 \.bf16 with a swizzle of 128 bytes and 64x64 \.bf16 with a swizzle of 128 bytes, do not fit an accumulator of 64x32, expected tiles of 64 and 32 rows from -1 from -10`
				}
			}))
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Pipeline("p", 0) }},                  // want `D501: p has 0 stages, expected 1 to 64`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Persistent(k.U32(4), k.U32(4), 0) }}, // want `D501: schedule has groups of 0 rows of tiles, expected a positive number`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Errorf("no kernel for %d", 7) }},     // want `D601: no kernel for 7`
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 32, 16)
		w.Clear()
		rows := k.OnlineSoftmax(2, k.F32(1))
		rows.Weigh(w)                            // want `D401: tile in Weigh has 4 local rows, but the softmax has 2`
		rows.Divide(w)                           // want `D401: ScaleRows has 2 factors, but the thread has elements of 4 rows`
		rows.Log(w, 2)                           // want `D401: local row 2 is out of bounds: a lane has 2 rows`
		rows.Weigh(nil)                          // want `D201: tile in Weigh is nil`
		rows.IfGrown(nil, func() {})             // want `D401: IfGrown has 0 factors, but the softmax has 2 local rows`
		dsl.SetAll(dsl.Vars(rows.Sum), nil)      // want `D401: SetAll has 2 variables, but 0 values`
		w.ScaleRows(nil)                         // want `D401: ScaleRows has 0 factors, but the thread has elements of 4 rows`
		new(dsl.Accumulator).Mask(nil, k.F32(0)) // want `D201: accumulator in Mask is a zero value, not created by a builder call`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { helper(k) }},
}

// helper makes a mistake on behalf of its caller.
func helper(k *dsl.Kernel) { k.U8(-1) } // want `D204: -1 is not a valid \.u8 from -4`

// sparse returns tiles for MMASparse: x with the given columns of a type, and metadata with the
// given bytes.
func sparse(k *dsl.Kernel, shape dsl.MMA, cols int, t isa.Type,
	metadata int) (*dsl.WarpTile[dsl.F32], []dsl.SharedTile) {
	x := k.SharedTile("x", dsl.Tile{Type: t, Rows: 64, Cols: cols, Swizzle: dsl.Swizzle128})
	y := k.SharedTile("y",
		dsl.Tile{Type: t, Rows: 64, Cols: 1024 / t.Bits(), Swizzle: dsl.Swizzle128})
	e := k.SharedTile("e", dsl.Tile{Type: isa.B8, Rows: 64, Cols: metadata})
	return dsl.NewWarpTile[dsl.F32](k, shape, 64, 32), []dsl.SharedTile{x, e, y, y}
}
