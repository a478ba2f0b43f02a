// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongProducts are mistakes with factors that the kernel computes.
var wrongProducts = []wrongKernel{
	{"sm_80", func(m *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 32, Cols: 64, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		one := dsl.NewReg[dsl.B32](k)
		p := k.AsyncPipeline("p", 3, x.Tile)
		with := func(lists ...[]dsl.Reg[dsl.B32]) {
			p.Multiply(k.U32(4), func(u32, dsl.AsyncStage) {}, func(s dsl.AsyncStage) dsl.MMAStep { // want `D201: a \.b32 value that no builder call made`
				return w.MMAStepFunc(s.Tile(0), k.U32(0), func(int) [][]dsl.Reg[dsl.B32] { return lists }) // want `D401: the right factor of a step is nothing; 2 times 2 registers|D401: the right factor of a step is 3 times 2 registers; 2 times 2|D401: the right factor of a step is lists of 2 and of 1 registers; 2 times 2 registers are expected, for each 8 of 16 columns`
			})
		}
		with([]dsl.Reg[dsl.B32]{one, one}, []dsl.Reg[dsl.B32]{one, {}})
		with()
		with([]dsl.Reg[dsl.B32]{one, one}, []dsl.Reg[dsl.B32]{one, one}, []dsl.Reg[dsl.B32]{one, one})
		with([]dsl.Reg[dsl.B32]{one, one}, []dsl.Reg[dsl.B32]{one})
		none := func(int) [][]dsl.Reg[dsl.B32] { return nil }
		w.MMAStepFunc(dsl.SharedTile{}, k.U32(0), none)    // want `D201: ProductWith of a tile that no builder call made`
		w.MMAStepFunc(x.RowsFrom(0, 8), k.U32(0), none)    // want `D401: ProductWith of 8x64 \.f16 .* into 16x16 with m16n8k16 of \.f16: at least so many rows of a multiple of 16`
		w.MMAStepFunc(x, k.U32(0), nil)                    // want `D205: ProductWith is given a function that is nil`
		other := m.Kernel("other").SharedTile("x", x.Tile) // of another kernel
		w.MMAStepFunc(other, k.U32(0), none)               // want `D203: a tile of other is multiplied into sums of k`
		s := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F32, isa.F32), 16, 16)
		s.MMAStepFunc(x, k.U32(0), none) // want `D401: ProductWith of m16n8k8 \.tf32, whose fragments are read in a way of its own`
	}},
	{"sm_90a", func(m *dsl.Module, k *dsl.Kernel) { // groups of products, and what they leave for the next
		k.WaitMMA(-1) // want `D501: -1 groups of products under way; 0 to 7 are expected`
		k.WaitMMA(8)  // want `D501: 8 groups of products under way`
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 32, Cols: 64, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		left := w.LoadFragments(x, k.U32(0))
		left.Set(nil)                                                                                          // want `D201: fragments are set to some that no builder call made`
		left.Set(dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 32, 16).LoadFragments(x, k.U32(0))) // want `D401: fragments of 16x64 \.f16 are set to some of 32x64 \.f16`
		sums := k.Accumulator(64, 16, isa.F32)
		sums.Clear()
		high := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 64, 16)
		high.Clear()
		high.ToFragments(isa.F16).Set(sums.ToFragments(isa.F16)) // want `D401: fragments of 64x16 \.f16 are set to some of 64x16 \.f16, or of a warp to some of a warpgroup`
		other := m.Kernel("other")
		left.Set(dsl.NewWarpTile[dsl.F32](other, dsl.MMAFor(isa.F16, isa.F32), 16, 16).LoadFragments(other.SharedTile("x", x.Tile), other.U32(0))) // want `D203: fragments of other are used in k`
	}},
	{"sm_90a", func(m *dsl.Module, k *dsl.Kernel) { // sums that are promoted
		total := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		part := dsl.NewWarpTile[dsl.S32](k, dsl.MMAFor(isa.S8, isa.S32), 16, 32)
		other := dsl.NewWarpTile[dsl.S32](m.Kernel("other"), dsl.MMAFor(isa.S8, isa.S32), 16, 16)
		f := func(_ dsl.Cell, sum f32, x dsl.Reg[dsl.S32]) f32 { return dsl.To[dsl.F32](x).Add(sum) }
		dsl.Promote(total, part, f)   // want `D401: sums of 16x32 with m16n8k32 are promoted into 16x16 with m16n8k16; the same rows and columns`
		dsl.Promote(total, other, f)  // want `D203: sums of other are promoted into those of k`
		dsl.Promote(total, part, nil) // want `D205: Promote is given a function that is nil`
		dsl.Promote(nil, part, f)     // want `D201: Promote of sums that no builder call made`
		dsl.Promote(total, nil, f)    // want `D201: Promote of sums that no builder call made`
		a, b, c := k.Accumulator(64, 64, isa.F32), k.Accumulator(64, 64, isa.S32), k.Accumulator(64, 32, isa.F32)
		g := func(_ dsl.Cell, sum, x f32) f32 { return x.Add(sum) }
		a.Row(2)                                                                     // want `D401: line 2 of sums that have 2`
		total.Row(-1)                                                                // want `D401: line -1 of sums that have 2`
		dsl.PromoteAccumulator(a, b, g)                                              // want `D401: sums of \.s32 are promoted as \.f32; their own type is expected`
		dsl.PromoteAccumulator(a, c, g)                                              // want `D401: sums of 64x32 are promoted into 64x64`
		dsl.PromoteAccumulator(b, a, g)                                              // want `D401: PromoteSums of an accumulator of \.s32; sums of \.f32 are expected`
		dsl.PromoteAccumulator(a, nil, g)                                            // want `D201: PromoteSums of sums that no builder call made`
		dsl.PromoteAccumulator(a, m.Kernel("third").Accumulator(64, 64, isa.F32), g) // want `D203: sums of third are promoted into those of k`
	}},
	{"sm_120a", func(m *dsl.Module, k *dsl.Kernel) { // scale factors of mma.sync
		tile := func(t isa.Type, cols int) dsl.SharedTile {
			return k.SharedTile("x"+t.String()[1:], dsl.Tile{Type: t, Rows: 128, Cols: cols, Swizzle: dsl.Swizzle128})
		}
		scales := func(atoms int) dsl.SharedTile {
			return k.SharedTile("s"+strings.Repeat("i", atoms), dsl.Tile{Type: isa.U64, Rows: 1, Cols: 64 * atoms})
		}
		w := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E2m1, isa.E2m1, dsl.NVFP4), 16, 16)
		x, s, zero := tile(isa.E2m1, 256), scales(4), k.U32(0)
		s.ScaleHalf(zero)                                                       // want `D401: Half of 1x256 \.u64; scale factors of a ScaleMap for 64 or 192 rows`
		w.MMA(x, zero, x, zero)                                                 // want `D401: a product with m16n8k64 of \.e2m1 and \.e2m1, whose numbers have scale factors; ScaledProduct`
		w.SparseMMA(x, zero, s, []dsl.SharedTile{x}, zero)                      // want `D401: a product with m16n8k64 .* whose numbers have scale factors`
		w.ScaledMMA(x, zero, x, zero, s, scales(2))                             // want `D401: scale factors 1x128 \.u64 for 128 rows of tiles 256 deep`
		w.ScaledMMA(x, zero, x, zero, dsl.SharedTile{}, s)                      // want `D401: scale factors .* for 128 rows of tiles 256 deep`
		w.ScaledMMA(x, zero, x, zero, m.Kernel("o").SharedTile("s", s.Tile), s) // want `D203: .*`
		p := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.E4m3, isa.F32), 16, 16)
		e := tile(isa.E4m3, 128)
		p.ScaledMMA(e, zero, e, zero, s, s) // want `D401: scale factors with m16n8k32 of \.e4m3 and \.e4m3, which takes none; ScaledMMAFor`
		q := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E4m3, isa.E4m3, dsl.NVFP4), 16, 16)
		q.ScaledMMA(e, zero, e, zero, s, s) // want `D401: m16n8k32 of \.e4m3 and \.e4m3 with a \.ue4m3 for 16: mma\.sync has no kind for it`
		g := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E4m3, isa.E5m2, dsl.MXFP8), 16, 16)
		g.ScaledMMA(e, zero, e, zero, s, s) // want `D401: MMA of 128x128 \.e4m3 .* and 128x128 \.e4m3 .* with m16n8k32 of \.e4m3 and \.e5m2`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		w := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E2m1, isa.E2m1, dsl.NVFP4), 16, 16)
		x := k.SharedTile("x", dsl.Tile{Type: isa.E2m1, Rows: 128, Cols: 256, Swizzle: dsl.Swizzle128})
		s := k.SharedTile("s", dsl.Tile{Type: isa.U64, Rows: 1, Cols: 256})
		w.ScaledMMA(x, k.U32(0), x, k.U32(0), s, s) // want `D102: sm_100a has no mma\.sync with scale factors, which sm_120a and its family have`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { // sums in tensor memory that are handed back
		acc := k.TMEM("acc", 128, 64, 2)
		k.Roles(
			dsl.OnWarp(0, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) { d.Release() }) // want `D501: Release of sums that products are added to`
			}),
			dsl.OnWarpgroup(1, "write", func() {
				acc.Drain(func(d *dsl.AccumulatorStage) {
					k.If(d.Row().LTI(4), func() { d.Release() }) // want `D501: Release in a condition or a loop`
					d.Load(0, 32)
					d.Release()
					d.Load(32, 32) // want `D501: sums are read after they were handed back`
					d.Release()    // want `D501: sums of acc are handed back twice`
				})
			}),
		)
	}},
}
