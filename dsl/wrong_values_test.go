// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongValues are mistakes with types that exist only in memory, with pointers and special
// registers, and with nil arguments.
var wrongValues = []wrongKernel{
	// Types that can only be stored and converted.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewReg[dsl.U8](k).AddI(1) }},                    // want `D205: add is not defined for \.u8, which can only be stored, moved and converted; convert with To\[dsl\.U32\], or To\[dsl\.S32\] if it is signed, first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewReg[dsl.B8](k).Not() }},                      // want `D205: not is not defined for \.b8, which can only be stored, moved and converted; convert with To\[dsl\.U32\], or To\[dsl\.S32\] if it is signed, first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewReg[dsl.S8](k).LTI(0) }},                     // want `D205: comparison is not defined for \.s8, which can only be stored, moved and converted; convert with To\[dsl\.U32\], or To\[dsl\.S32\] if it is signed, first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.NewReg[dsl.S8](k).ShlI(1) }},                    // want `D205: shl is not defined for \.s8, which can only be stored, moved and converted; convert with To\[dsl\.U32\], or To\[dsl\.S32\] if it is signed, first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { x := dsl.NewReg[dsl.E4M3](k); x.FMA(x, x) }},        // want `D205: mad is not defined for \.e4m3, which can only be stored, moved and converted; convert with To\[dsl\.F32\] first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { x := dsl.NewReg[dsl.E4M3x2](k); x.Add(x) }},         // want `D205: add is not defined for \.e4m3x2, which can only be stored, moved and converted; convert pairs with To\[dsl\.F16x2\] first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { x := dsl.NewReg[dsl.TF32](k); x.Add(x) }},           // want `D205: add is not defined for \.tf32, which can only be stored, moved and converted; use Bits\[dsl\.F32\] first`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Global[dsl.U8](k, "x").LoadVec(k.U32(0), 32) }}, // want `D301: vector has 32 x \.u8, expected a power of two of elements and at most 16 bytes`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Struct[struct{ N int }](k, "s") }},              // want `D205: parameter s has a field of type int, N, expected a struct whose fields are exported values and arrays of the kernel`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		type inner struct{ P [2]dsl.Reg[dsl.Pred] }
		dsl.Struct[struct{ In inner }](k, "s") // want `D205: parameter s has a predicate field, In\.P\[0\], expected a struct whose fields are exported values and arrays of the kernel`
	}},
	// Pointers.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Pointer[dsl.F32](k.U32(8), isa.Global) }}, // want `D301: address in a register of type \.u32 points into \.global memory, expected 64 bits`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Pointer[dsl.F32](k.U64(8), isa.Shared) }}, // want `D301: address in a register of type \.u64 points into \.shared memory, expected 32 bits`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Pointer[dsl.F32](k.U64(8), isa.Param) }},  // want `D301: pointer points into \.param memory, expected generic, global, shared or local`
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		f := m.Func("f")
		dsl.Global[dsl.F32](f.Kernel, "to")
		k.Call(f, dsl.Shared[dsl.F32](k, "s", 4))  // want `D303: array in \.shared memory is passed as an argument, expected global memory`
		k.Call(f, k.U32(1))                        // want `D303: argument 1 of f has type \.u32, expected \.u64`
		dsl.Struct[struct{ X f32 }](f.Kernel, "s") // want `D303: parameter s of device function f must be a value or a pointer; only kernels take structs and tensor maps`
	}},
	// Special registers.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "%smidd") }},  // want `D205: %smidd is not a special register; did you mean %smid\?`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "laneid") }},  // want `D205: laneid is not a special register; did you mean %laneid\?`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "%smid.x") }}, // want `D205: %smid has no components, got %smid\.x`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { dsl.Special[dsl.U32](k, "%tid") }},    // want `D205: %tid is a vector; use a component such as %tid\.x`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.ClusterRank() }},                    // want `D102: sm_80 with PTX 9\.5 does not support %cluster_ctarank, which needs PTX 7\.8 on sm_90 or later`
	// Invalid loops and lane indices.
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		for range k.RangeStep(k.U32(0), k.U32(8), k.U32(0)) { // want `D206: loop step is 0, expected a positive number`
		}
		for range dsl.RangeOf(k.S32(8), k.S32(0), k.S32(-1)) { // want `D206: loop step is -1, expected a positive number`
		}
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Lane().ShuffleXor(32) }},  // want `D204: shuffle distance is 32 lanes, expected 0 to 31`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.Lane().ShuffleDown(-1) }}, // want `D204: shuffle distance is -1 lanes, expected 0 to 31`
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { k.NamedBarrier(512) }},      // want `D501: named barrier expects 512 threads, but the block has 256`
	{"sm_90", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("clustered", dsl.Threads(128), dsl.Cluster(2))
		dsl.Shared[dsl.F32](k, "s", 4).InBlock(k.U32(2)) // want `D501: block rank 2 is out of bounds: the cluster has 2 blocks`
		k.Barrier("b", 1).ArriveAt(k.U32(7))             // want `D501: block rank 7 is out of bounds: the cluster has 2 blocks`
	}},
	// Operands in registers, and transposed ones.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		y := k.SharedTile("y", dsl.Tile{Type: isa.S8, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle64})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 64)
		n := dsl.NewWarpTile[dsl.S32](k, dsl.MMAFor(isa.S8, isa.S32), 16, 64)
		left := w.LoadFragments(x, k.U32(0))
		n.MMA(y, k.U32(0), y.Transposed(), k.U32(0))                   // want `D401: 64x64 \.s8 with a swizzle of 64 bytes cannot be transposed, since ldmatrix transposes only 16-bit elements; MMAStep transposes \.f64 and 32-bit tiles without a swizzle`
		n.MMAFragments(left, y, k.U32(0))                              // want `D401: operands of MMAFragments, \.f16 and 64x64 \.s8 with a swizzle of 64 bytes, do not match shape m16n8k32 of \.s8: the element types differ`
		w.MMAFragments(left, x.RowsFrom(0, 32), k.U32(0))              // want `D401: operands of MMAFragments, 16x64 \.f16 and 32x64 \.f16 with a swizzle of 128 bytes, do not fit an accumulator of 16x64: they differ in K, or B has too few rows`
		w.MMAFragments(left, x.RowsFrom(0, 32).Transposed(), k.U32(0)) // want `D401: operands of MMAFragments, 16x64 \.f16 and 32x64 \.f16 with a swizzle of 128 bytes, transposed, do not fit an accumulator of 16x64: they differ in K, or B has too few rows`
		w.MMAFragments(nil, x, k.U32(0))                               // want `D201: fragments in MMAFragments are a zero value, not created by a builder call`
		n.ToFragments(isa.F16)                                         // want `D401: accumulator of \.s32 with shape m16n8k32 cannot become an A operand of \.f16; \.f32 converts to \.f16 or \.bf16, and \.f16 stays \.f16`
		w.ToFragments(isa.E4m3)                                        // want `D401: accumulator of \.f32 with shape m16n8k16 cannot become an A operand of \.e4m3; \.f32 converts to \.f16 or \.bf16, and \.f16 stays \.f16`
		w.LoadFragments(y, k.U32(0))                                   // want `D401: A operand 64x64 \.s8 with a swizzle of 64 bytes does not fit m16n8k16 \.f16, expected 16 rows and a multiple of 16 columns`
		w.LoadFragments(dsl.SharedTile{}, k.U32(0))                    // want `D201: tile of LoadFragments is a zero value, not created by a builder call`
		w.Map(nil)                                                     // want `D205: Map is called with a nil function`
		w.RowReduce(nil)                                               // want `D205: RowReduce is called with a nil function`
		split := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F32, isa.F32), 16, 16)
		split.LoadFragments(x, k.U32(0)) // want `D401: LoadFragments does not support MMA shape m16n8k8 of \.tf32; use MMA`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		acc, whole := k.Accumulator(64, 64, isa.F32), k.Accumulator(64, 64, isa.S32)
		acc.MMA(x.RowsFrom(0, 32).Transposed(), x)                       // want `D401: operands of MMA, 32x64 \.f16 with a swizzle of 128 bytes, transposed and 64x64 \.f16 with a swizzle of 128 bytes, have the wrong widths: their rows must have the same length, a multiple of 16 elements`
		acc.MMAFragments(nil, x)                                         // want `D201: fragments in MMAFragments are a zero value, not created by a builder call`
		acc.MMAFragments(acc.ToFragments(isa.Bf16), x)                   // want `D401: operands of MMAFragments, \.bf16 and 64x64 \.f16 with a swizzle of 128 bytes, do not fit an accumulator of \.f32, expected two operands of the same 16-bit type, or of \.e4m3 or \.e5m2`
		acc.MMAFragments(acc.ToFragments(isa.F16), x.RowsFrom(0, 32))    // want `D401: operands of MMAFragments, 64x64 \.f16 and 32x64 \.f16 with a swizzle of 128 bytes, do not fit an accumulator of 64x64: they differ in K, or the rows of B are not the columns of the accumulator`
		acc.MMAFragments(acc.ToFragments(isa.F16), x)                    // want `D501: MMAFragments reads a tile that belongs to no pipeline stage: nothing waits for the MMA before the tile is overwritten`
		whole.ToFragments(isa.F16)                                       // want `D401: accumulator of 64x64 \.s32 cannot become an A operand of \.f16, expected \.f32 with a multiple of 16 columns, converted to \.f16 or \.bf16, or of 32, converted to \.e4m3 or \.e5m2`
		whole.Map(func(_ dsl.Cell, x f32) f32 { return x })              // want `D401: Map is called on an accumulator of \.s32, expected \.f32`
		acc.Map(nil)                                                     // want `D205: Map is called with a nil function`
		dsl.EachElement(whole, func(_, _ u32, _, _ dsl.Reg[dsl.F32]) {}) // want `D401: accumulator of \.s32 is used as \.f32`
	}},
	// Constants that a type cannot represent.
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		dsl.Const[dsl.F16x2](k, 0x64006400)               // want `D204: 1\.6777472e\+09 overflows \.f16x2; use math\.Inf\(1\) for infinity, or Bits\[dsl\.F16x2\] for a bit pattern`
		k.F16(65520)                                      // want `D204: 65520 overflows \.f16; use math\.Inf\(1\) for infinity, or Bits\[dsl\.F16\] for a bit pattern`
		k.F32(-math.MaxFloat64)                           // want `D204: -1\.7976931348623157e\+308 overflows \.f32; use math\.Inf\(1\) for infinity, or Bits\[dsl\.F32\] for a bit pattern`
		k.BF16(3.4e38).MulF(1e39)                         // want `D204: 3\.4e\+38 overflows \.bf16; use math\.Inf\(1\) for infinity, or Bits\[dsl\.BF16\] for a bit pattern`
		dsl.ConstantVariable[dsl.F16](m, "table", 1, 1e6) // want `D204`
		k.F16(65504).MaxF(math.Inf(-1))                   // representable, as infinity is
	}},
	// Nil arguments.
	{"sm_90", func(m *dsl.Module, k *dsl.Kernel) {
		k.If(k.Lane().EQI(0), nil)                                                                                        // want `D205: an If is called with a nil function`
		k.While(nil, nil)                                                                                                 // want `D205: While is called with a nil function`
		k.SwitchDefault(k.Lane(), nil, func() {})                                                                         // want `D205: a default is called with a nil function`
		k.Switch(k.Lane(), nil)                                                                                           // want `D205: a case is called with a nil function`
		k.Lane().WarpReduce(nil)                                                                                          // want `D205: WarpReduce is called with a nil function`
		dsl.BlockScan(k.Lane(), "s", nil)                                                                                 // want `D205: BlockScan is called with a nil function`
		m.Kernel("other", nil)                                                                                            // want `D205: Kernel is called with a nil function`
		k.Roles(dsl.OnWarp(0, "idle", nil))                                                                               // want `D205: role idle is called with a nil function`
		k.Pipeline("none", 2, dsl.Feed{})                                                                                 // want `D201: feed of pipeline none is a zero value, not created by a builder call`
		k.Output("out", nil, 1)                                                                                           // want `D201: tensor map of output out is a zero value, not created by a builder call`
		dsl.NewWarpTile[dsl.F32](k, dsl.MMA{}, 16, 16)                                                                    // want `D401: warp tile of 16x16 does not fit MMA shape m0n0k0; use a shape from MMAFor`
		k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 8, Cols: 64}, dsl.NoSwizzle).Store(dsl.SharedTile{}, k.U32(0), k.U32(0)) // want `D201: tile copied through a is a zero value, not created by a builder call`
	}},
	// Zero accumulators and operands.
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 64)
		w.MMAFragments(&dsl.Fragments{}, x, k.U32(0))                    // want `D201: fragments in MMAFragments are a zero value, not created by a builder call`
		w.Map(func(_ dsl.Cell, _ f32) f32 { return f32{} })              // want `D201: Reg of type \.f32 is a zero value, not created by a builder call`
		k.Accumulator(64, 64, isa.F32).MMAFragments(&dsl.Fragments{}, x) // want `D201: fragments in MMAFragments are a zero value, not created by a builder call`
	}},
	{"sm_90a", func(_ *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		var none *dsl.WarpTile[dsl.F32]
		var w dsl.WarpTile[dsl.F32]
		var a dsl.Accumulator
		w.Map(func(_ dsl.Cell, x f32) f32 { return x }) // a zero WarpTile
		a.Wait()
		none.Store(k.Matrix("d", isa.F32), k.U32(0), k.U32(0)) // want `D201: accumulator in Store is a zero value, not created by a builder call`
		w.MMA(x, k.U32(0), x, k.U32(0))                        // want `D201: accumulator in MMA is a zero value, not created by a builder call`
		w.MMAFragments(w.ToFragments(isa.F16), x, k.U32(0))    // want `D201: accumulator in MMAFragments is a zero value, not created by a builder call`
		w.LoadFragments(x, k.U32(0))                           // want `D201: accumulator in LoadFragments is a zero value, not created by a builder call`
		w.StoreShared(x, k.U32(0))                             // want `D201: accumulator in StoreShared is a zero value, not created by a builder call`
		a.MMA(x, x)                                            // want `D201: accumulator in MMA is a zero value, not created by a builder call`
		a.MMAFragments(a.ToFragments(isa.F16), x)              // want `D201: accumulator in MMAFragments is a zero value, not created by a builder call`
	}},
}
