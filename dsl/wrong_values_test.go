// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongValues are mistakes with values that memory alone holds, with pointers and special registers, and with what is left nil.
var wrongValues = []wrongKernel{
	// Numbers that are stored and converted, and nothing else.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewReg[dsl.U8](k).AddI(1) }},                    // want `D205: add of a \.u8, which is stored, moved and converted; To\[dsl\.U32\]`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewReg[dsl.B8](k).Not() }},                      // want `D205: not of a \.b8, which is stored`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewReg[dsl.S8](k).LTI(0) }},                     // want `D205: a comparison of a \.s8, which is stored`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewReg[dsl.S8](k).ShlI(1) }},                    // want `D205: shl of a \.s8, which is stored`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { x := dsl.NewReg[dsl.E4M3](k); x.FMA(x, x) }},        // want `D205: fma of a \.e4m3, .* To\[dsl\.F32\]|D205: mad of a \.e4m3`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { x := dsl.NewReg[dsl.E4M3x2](k); x.Add(x) }},         // want `D205: add of a \.e4m3x2, .* To\[dsl\.F16x2\] of a pair`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { x := dsl.NewReg[dsl.TF32](k); x.Add(x) }},           // want `D205: add of a \.tf32, .* Bits\[dsl\.F32\]`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.U8](k, "x").LoadVec(k.U32(0), 32) }}, // want `D301: a vector of 32 times \.u8; a power of two of at most 16 bytes is expected`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Struct[struct{ N int }](k, "s") }},              // want `D205: parameter s has a int, N; a struct of values`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		type inner struct{ P [2]dsl.Reg[dsl.Pred] }
		dsl.Struct[struct{ In inner }](k, "s") // want `D205: parameter s has a predicate, In\.P\[0\]`
	}},
	// Pointers.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Pointer[dsl.F32](k.U32(8), isa.Global) }}, // want `D301: a \.u32 as an address in \.global memory, which has 64 bits`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Pointer[dsl.F32](k.U64(8), isa.Shared) }}, // want `D301: a \.u64 as an address in \.shared memory, which has 32 bits`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Pointer[dsl.F32](k.U64(8), isa.Param) }},  // want `D301: a pointer into \.param; the generic window, global, shared and local`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f")
		dsl.Global[dsl.F32](f.Kernel, "to")
		k.Call(f, dsl.Shared[dsl.F32](k, "s", 4))  // want `D303: an array in \.shared memory as an argument; functions take pointers to global memory`
		k.Call(f, k.U32(1))                        // want `D303: argument 1 of f is a \.u32; a \.u64 is expected`
		dsl.Struct[struct{ X f32 }](f.Kernel, "s") // want `D303: parameter s of f, a device function, which takes values and pointers`
	}},
	// Special registers.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "%smidd") }},  // want `D205: %smidd is no special register; did you mean %smid\?`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "laneid") }},  // want `D205: laneid is no special register; did you mean %laneid\?`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "%smid.x") }}, // want `D205: %smid has no components, found %smid\.x`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "%tid") }},    // want `D205: %tid has components, of which one is expected: %tid\.x`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.ClusterRank() }},                    // want `D102: sm_80 with PTX .* has no %cluster_ctarank: it needs PTX 7\.8 on sm_90`
	// Loops and lanes that cannot be.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for range k.RangeStep(k.U32(0), k.U32(8), k.U32(0)) { // want `D206: a loop in steps of 0; a positive number is expected, since it counts up`
		}
		for range dsl.RangeOf(k.S32(8), k.S32(0), k.S32(-1)) { // want `D206: a loop in steps of -1; a positive number`
		}
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Lane().ShuffleXor(32) }},  // want `D204: a shuffle by 32 lanes; a warp has lanes 0 to 31`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Lane().ShuffleDown(-1) }}, // want `D204: a shuffle by -1 lanes`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.NamedBarrier(512) }},      // want `D501: a barrier of 512 threads, in a block of 256`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("clustered", dsl.Threads(128), dsl.Cluster(2))
		dsl.Shared[dsl.F32](k, "s", 4).InBlock(k.U32(2)) // want `D501: the block of rank 2, in a cluster of 2`
		k.Barrier("b", 1).ArriveAt(k.U32(7))             // want `D501: the block of rank 7, in a cluster of 2`
	}},
	// Factors in registers, and transposed ones.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		y := k.SharedTile("y", dsl.Tile{Type: isa.S8, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle64})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 64)
		n := dsl.NewWarpTile[dsl.S32](k, dsl.MMAFor(isa.S8, isa.S32), 16, 64)
		left := w.LoadFragments(x, k.U32(0))
		n.MMA(y, k.U32(0), y.Transposed(), k.U32(0))                   // want `D401: 64x64 \.s8 with a swizzle of 64 bytes transposed; the tensor cores turn numbers of 16 bits`
		n.MMAFragments(left, y, k.U32(0))                              // want `D401: MMALeft of \.f16 and 64x64 \.s8 .* with m16n8k32 of \.s8: the element types differ`
		w.MMAFragments(left, x.RowsFrom(0, 32), k.U32(0))              // want `D401: MMALeft of 16x64 \.f16 and 32x64 \.f16 .* into 16x64: rows of one length, and at least so many rows`
		w.MMAFragments(left, x.RowsFrom(0, 32).Transposed(), k.U32(0)) // want `D401: MMALeft of 16x64 \.f16 and 32x64 \.f16 with a swizzle of 128 bytes, transposed into`
		w.MMAFragments(nil, x, k.U32(0))                               // want `D201: MMALeft of a factor that no builder call made`
		n.ToFragments(isa.F16)                                         // want `D401: sums of \.s32 with m16n8k32 as a left factor of \.f16; sums of \.f32 become`
		w.ToFragments(isa.E4m3)                                        // want `D401: sums of \.f32 with m16n8k16 as a left factor of \.e4m3`
		w.LoadFragments(y, k.U32(0))                                   // want `D401: 64x64 \.s8 .* as the left factor of m16n8k16 \.f16; 16 rows of a multiple of 16`
		w.LoadFragments(dsl.SharedTile{}, k.U32(0))                    // want `D201: the left factor is a tile that no builder call made`
		w.Map(nil)                                                     // want `D205: Map is given a function that is nil`
		w.RowReduce(nil)                                               // want `D205: RowReduce is given a function that is nil`
		split := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F32, isa.F32), 16, 16)
		split.LoadFragments(x, k.U32(0)) // want `D401: the left factor of m16n8k8 \.tf32 apart from its product; MMA reads both`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		acc, whole := k.Accumulator(64, 64, isa.F32), k.Accumulator(64, 64, isa.S32)
		acc.MMA(x.RowsFrom(0, 32).Transposed(), x)                       // want `D401: MMA of 32x64 \.f16 .*, transposed and 64x64 .*: rows of one length`
		acc.MMAFragments(nil, x)                                         // want `D201: MMALeft of a factor that no builder call made`
		acc.MMAFragments(acc.ToFragments(isa.Bf16), x)                   // want `D401: MMALeft of \.bf16 and 64x64 \.f16 .* into sums of \.f32: numbers of one type of 16 bits`
		acc.MMAFragments(acc.ToFragments(isa.F16), x.RowsFrom(0, 32))    // want `D401: MMALeft of 64x64 \.f16 and 32x64 \.f16 .* into 64x64: rows of one length`
		acc.MMAFragments(acc.ToFragments(isa.F16), x)                    // want `D501: MMALeft of a tile that belongs to no stage of a pipeline: nothing would wait for it`
		whole.ToFragments(isa.F16)                                       // want `D401: sums of 64x64 \.s32 as a left factor of \.f16; a multiple of 16 columns of \.f32`
		whole.Map(func(_ dsl.Cell, x f32) f32 { return x })              // want `D401: Map of an accumulator of \.s32; sums of \.f32 are expected`
		acc.Map(nil)                                                     // want `D205: Map is given a function that is nil`
		dsl.EachElement(whole, func(_, _ u32, _, _ dsl.Reg[dsl.F32]) {}) // want `D401: the sums of an accumulator of \.s32 as \.f32`
	}},
	// Numbers that a type does not hold.
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		dsl.Const[dsl.F16x2](k, 0x64006400)               // want `D204: 1\.6777472e\+09 is beyond the largest number of \.f16x2; infinity is math\.Inf\(1\), and Bits\[dsl\.F16x2\] takes`
		k.F16(65520)                                      // want `D204: 65520 is beyond the largest number of \.f16;`
		k.F32(-math.MaxFloat64)                           // want `D204: -1\.79.*e\+308 is beyond the largest number of \.f32`
		k.BF16(3.4e38).MulF(1e39)                         // want `D204: 1e\+39 is beyond the largest number of \.bf16`
		dsl.ConstantVariable[dsl.F16](m, "table", 1, 1e6) // want `D204`
		k.F16(65504).MaxF(math.Inf(-1))                   // fits, as an infinity does
	}},
	// What is left nil.
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		k.If(k.Lane().EQI(0), nil)                                                                                        // want `D205: an If is given a function that is nil`
		k.While(nil, nil)                                                                                                 // want `D205: While is given a function that is nil`
		k.SwitchDefault(k.Lane(), nil, func() {})                                                                         // want `D205: a default is given a function that is nil`
		k.Switch(k.Lane(), nil)                                                                                           // want `D205: a case is given a function that is nil`
		k.Lane().WarpReduce(nil)                                                                                          // want `D205: WarpReduce is given a function that is nil`
		dsl.BlockScan(k.Lane(), "s", nil)                                                                                 // want `D205: BlockScan is given a function that is nil`
		m.Kernel("other", nil)                                                                                            // want `D205: Kernel is given a function that is nil`
		k.Roles(dsl.OnWarp(0, "idle", nil))                                                                               // want `D205: role idle is given a function that is nil`
		k.Pipeline("none", 2, dsl.Feed{})                                                                                 // want `D201: pipeline none carries tiles of a tensor map that no builder call made|D501`
		k.Output("out", nil, 1)                                                                                           // want `D201: output out of a tensor map that no builder call made`
		dsl.NewWarpTile[dsl.F32](k, dsl.MMA{}, 16, 16)                                                                    // want `D401: a warp's tile of 16x16 for an MMA of m0n0k0; MMAFor gives shapes`
		k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 8, Cols: 64}, dsl.NoSwizzle).Store(dsl.SharedTile{}, k.U32(0), k.U32(0)) // want `D201: a copy of a tile that no builder call made, through a`
	}},
	// Sums and factors that no builder call made.
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 64)
		w.MMAFragments(&dsl.Fragments{}, x, k.U32(0))                    // want `D201: MMALeft of a factor that no builder call made`
		w.Map(func(_ dsl.Cell, _ f32) f32 { return f32{} })              // want `D201: a \.f32 value that no builder call made`
		k.Accumulator(64, 64, isa.F32).MMAFragments(&dsl.Fragments{}, x) // want `D201: MMALeft of a factor that no builder call made`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		var none *dsl.WarpTile[dsl.F32]
		var w dsl.WarpTile[dsl.F32]
		var a dsl.Accumulator
		w.Map(func(_ dsl.Cell, x f32) f32 { return x }) // of no kernel, which could be told
		a.Wait()
		none.Store(k.Matrix("d", isa.F32), k.U32(0), k.U32(0)) // want `D201: Store of sums that no builder call made`
		w.MMA(x, k.U32(0), x, k.U32(0))                        // want `D201: MMA of sums that no builder call made`
		w.MMAFragments(w.ToFragments(isa.F16), x, k.U32(0))    // want `D201: MMALeft of sums that no builder call made`
		w.LoadFragments(x, k.U32(0))                           // want `D201: Left of sums that no builder call made`
		w.StoreShared(x, k.U32(0))                             // want `D201: Put of sums that no builder call made`
		a.MMA(x, x)                                            // want `D201: MMA of sums that no builder call made`
		a.MMAFragments(a.ToFragments(isa.F16), x)              // want `D201: MMALeft of sums that no builder call made`
	}},
}
