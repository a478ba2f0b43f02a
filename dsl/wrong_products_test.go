// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongProducts are mistakes with MMA operands that the kernel computes.
var wrongProducts = []wrongKernel{
	{"sm_80", func(m *dsl.Module, k *dsl.Kernel) {
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 32, Cols: 64, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		one := dsl.NewReg[dsl.B32](k)
		p := k.AsyncPipeline("p", 3, x.Tile)
		with := func(lists ...[]dsl.Reg[dsl.B32]) {
			p.Multiply(k.U32(4), func(u32, dsl.AsyncStage) {}, func(s dsl.AsyncStage) dsl.MMAStep { // want `D201: Reg of type \.b32 is a zero value, not created by a builder call`
				return w.MMAStepFunc(s.Tile(0), k.U32(0), func(int) [][]dsl.Reg[dsl.B32] { return lists }) // want `D401: B operand of one MMA has 3 lists of 2 registers, expected 2 lists of 2 registers: one list for each 8 of 16 columns`
			})
		}
		with([]dsl.Reg[dsl.B32]{one, one}, []dsl.Reg[dsl.B32]{one, {}})
		with()
		with([]dsl.Reg[dsl.B32]{one, one}, []dsl.Reg[dsl.B32]{one, one},
			[]dsl.Reg[dsl.B32]{one, one})
		with([]dsl.Reg[dsl.B32]{one, one}, []dsl.Reg[dsl.B32]{one})
		none := func(int) [][]dsl.Reg[dsl.B32] { return nil }
		w.MMAStepFunc(dsl.SharedTile{}, k.U32(0), none)    // want `D201: tile in MMAStepFunc is a zero value, not created by a builder call`
		w.MMAStepFunc(x.RowsFrom(0, 8), k.U32(0), none)    // want `D401: operand 8x64 \.f16 with a swizzle of 128 bytes of MMAStepFunc does not fit an accumulator of 16x16 with shape m16n8k16 of \.f16: it has too few rows, or its depth is not a multiple of 16`
		w.MMAStepFunc(x, k.U32(0), nil)                    // want `D205: MMAStepFunc is called with a nil function`
		other := m.Kernel("other").SharedTile("x", x.Tile) // a tile of another kernel
		w.MMAStepFunc(other, k.U32(0), none)               // want `D203: MMA reads a tile of kernel other, but its accumulator belongs to kernel k`
		s := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F32, isa.F32), 16, 16)
		s.MMAStepFunc(x, k.U32(0), none) // want `D401: MMAStepFunc is called with shape m16n8k8 of \.tf32, whose fragments have another layout; use MMAStep`
	}},
	{"sm_90a", func(m *dsl.Module, k *dsl.Kernel) { // MMA groups and waits
		k.WaitMMA(-1) // want `D501: WaitMMA\(-1\) is called, expected 0 to 7 groups in flight`
		k.WaitMMA(8)  // want `D501: WaitMMA\(8\) is called, expected 0 to 7 groups in flight`
		x := k.SharedTile("x", dsl.Tile{Type: isa.F16, Rows: 32, Cols: 64, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		left := w.LoadFragments(x, k.U32(0))
		left.Set(nil)                                                                                          // want `D201: fragments in Set are a zero value, not created by a builder call`
		left.Set(dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 32, 16).LoadFragments(x, k.U32(0))) // want `D401: Fragments of 16x64 \.f16 are assigned fragments of 32x64 \.f16, or warp and warpgroup fragments are mixed`
		sums := k.Accumulator(64, 16, isa.F32)
		sums.Clear()
		high := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 64, 16)
		high.Clear()
		high.ToFragments(isa.F16).Set(sums.ToFragments(isa.F16)) // want `D401: Fragments of 64x16 \.f16 are assigned fragments of 64x16 \.f16, or warp and warpgroup fragments are mixed`
		other := m.Kernel("other")
		left.Set(dsl.NewWarpTile[dsl.F32](other, dsl.MMAFor(isa.F16, isa.F32), 16, 16).LoadFragments(other.SharedTile("x", x.Tile), other.U32(0))) // want `D203: fragments of kernel other are used in k`
	}},
	{"sm_90a", func(m *dsl.Module, k *dsl.Kernel) { // promoted accumulators
		total := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		part := dsl.NewWarpTile[dsl.S32](k, dsl.MMAFor(isa.S8, isa.S32), 16, 32)
		other := dsl.NewWarpTile[dsl.S32](m.Kernel("other"), dsl.MMAFor(isa.S8, isa.S32), 16, 16)
		f := func(_ dsl.Cell, sum f32, x dsl.Reg[dsl.S32]) f32 {
			return dsl.To[dsl.F32](x).Add(sum)
		}
		dsl.Promote(total, part, f)   // want `D401: accumulator of 16x32 with m16n8k32 is promoted into 16x16 with m16n8k16, expected the same shape and layout`
		dsl.Promote(total, other, f)  // want `D203: accumulator of kernel other is promoted into an accumulator of kernel k`
		dsl.Promote(total, part, nil) // want `D205: Promote is called with a nil function`
		dsl.Promote(nil, part, f)     // want `D201: accumulator in Promote is a zero value, not created by a builder call`
		dsl.Promote(total, nil, f)    // want `D201: accumulator in Promote is a zero value, not created by a builder call`
		a, b, c := k.Accumulator(64, 64, isa.F32), k.Accumulator(64, 64, isa.S32),
			k.Accumulator(64, 32, isa.F32)
		g := func(_ dsl.Cell, sum, x f32) f32 { return x.Add(sum) }
		a.Row(2)                                                                     // want `D401: local row 2 is out of bounds: a lane has 2 rows`
		total.Row(-1)                                                                // want `D401: local row -1 is out of bounds: a lane has 2 rows`
		dsl.PromoteAccumulator(a, b, g)                                              // want `D401: accumulator of \.s32 is promoted as \.f32, expected its element type, \.f32 or \.s32`
		dsl.PromoteAccumulator(a, c, g)                                              // want `D401: accumulator of 64x32 is promoted into 64x64, expected the same shape`
		dsl.PromoteAccumulator(b, a, g)                                              // want `D401: PromoteAccumulator is called on an accumulator of \.s32, expected \.f32`
		dsl.PromoteAccumulator(a, nil, g)                                            // want `D201: accumulator in PromoteAccumulator is a zero value, not created by a builder call`
		dsl.PromoteAccumulator(a, m.Kernel("third").Accumulator(64, 64, isa.F32), g) // want `D203: accumulator of kernel third is promoted into an accumulator of kernel k`
	}},
	{"sm_120a", func(m *dsl.Module, k *dsl.Kernel) { // scale factors of mma.sync
		tile := func(t isa.Type, cols int) dsl.SharedTile {
			return k.SharedTile("x"+t.String()[1:],
				dsl.Tile{Type: t, Rows: 128, Cols: cols, Swizzle: dsl.Swizzle128})
		}
		scales := func(atoms int) dsl.SharedTile {
			return k.SharedTile("s"+strings.Repeat("i", atoms),
				dsl.Tile{Type: isa.U64, Rows: 1, Cols: 64 * atoms})
		}
		w := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E2m1, isa.E2m1, dsl.NVFP4), 16, 16)
		x, s, zero := tile(isa.E2m1, 256), scales(4), k.U32(0)
		s.ScaleHalf(zero)                                                       // want `D401: ScaleHalf is called on 1x256 \.u64, expected scale factors of a ScaleMap with 64 or 192 rows`
		w.MMA(x, zero, x, zero)                                                 // want `D401: MMA is called with m16n8k64 of \.e2m1 and \.e2m1, a block-scaled shape; use ScaledMMAStep or SparseScaledMMAStep`
		w.SparseMMA(x, zero, s, []dsl.SharedTile{x}, zero)                      // want `D401: MMA is called with m16n8k64 of \.e2m1 and \.e2m1, a block-scaled shape; use ScaledMMAStep or SparseScaledMMAStep`
		w.ScaledMMA(x, zero, x, zero, s, scales(2))                             // want `D401: scale factors 1x128 \.u64 do not fit 128 rows of tiles of depth 256, expected a ScaleMap of that depth and as many rows, rounded up to a multiple of 128`
		w.ScaledMMA(x, zero, x, zero, dsl.SharedTile{}, s)                      // want `D401: scale factors 0x0  do not fit 128 rows of tiles of depth 256, expected a ScaleMap of that depth and as many rows, rounded up to a multiple of 128`
		w.ScaledMMA(x, zero, x, zero, m.Kernel("o").SharedTile("s", s.Tile), s) // want `D203: .*`
		p := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.E4m3, isa.F32), 16, 16)
		e := tile(isa.E4m3, 128)
		p.ScaledMMA(e, zero, e, zero, s, s) // want `D401: ScaledMMA is called with m16n8k32 of \.e4m3 and \.e4m3, a shape without scale factors; use a shape from ScaledMMAFor`
		q := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E4m3, isa.E4m3, dsl.NVFP4), 16, 16)
		q.ScaledMMA(e, zero, e, zero, s, s) // want `D401: m16n8k32 of \.e4m3 and \.e4m3 with a \.ue4m3 for 16 does not exist: mma\.sync has no such kind`
		g := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E4m3, isa.E5m2, dsl.MXFP8), 16, 16)
		g.ScaledMMA(e, zero, e, zero, s, s) // want `D401: operands of MMA, 128x128 \.e4m3 with a swizzle of 128 bytes and 128x128 \.e4m3 with a swizzle of 128 bytes, do not match shape m16n8k32, which multiplies A of \.e4m3 by B of \.e5m2: the element types differ`
	}},
	{"sm_120a", func(_ *dsl.Module, k *dsl.Kernel) { // scale factors of 64 rows
		a := k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)
		sf := k.ScaleMap("sf", dsl.MXFP8, 64, 128)
		p := k.Pipeline("p", 2, a.Feed(), sf.Feed())
		zero := k.U32(0)
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(zero) {
					s.Load(a, dsl.TileAt(zero, s.Iteration()))
					s.Load(sf, dsl.TileAt(zero, s.Iteration()))
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				w := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E4m3, isa.E4m3, dsl.MXFP8),
					16, 16)
				for s := range p.Consume(zero) {
					x, scales := s.Tile(a), s.Tile(sf)
					w.ScaledMMA(x, zero, x, zero, scales, scales) // want `D401: scale factors 1x64 \.u64 cover parts of atoms of 128 rows; call ScaleHalf with the index of the tile`
				}
			}),
		)
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) { // row tiles
		dsl.NewRowTile[dsl.U32](k, 8, 4) // want `D401: row tile of 8 elements of \.u32 in groups of 4, expected \.f32, \.f16 or \.bf16, groups of a multiple of 16 bytes, and a block whose threads are set`
		dsl.NewRowTile[dsl.F16](k, 8, 4) // want `D401: row tile of 8 elements of \.f16 in groups of 4, expected .*`
		t := dsl.NewRowTile[dsl.F32](k, 8, 4)
		t.Map(nil, func(x f32) f32 { return x }) // want `D401: Map is called with 0 groups of elements, but the row tile has 1`
		t.Each(nil, nil)                         // want `D205: Each is called with a nil function`
		x := dsl.Global[dsl.F16](k, "x")
		dsl.NewRowStream(x, 12, dsl.RowBuffer{Copies: 1})             // want `D401: row stream of 12 elements of \.f16 over 1 blocks with 1 copies and 0 groups in registers, expected .*`
		dsl.NewRowStream(x, 4096, dsl.RowBuffer{Kept: 1})             // want `D401: row stream of 4096 .* with 0 copies and 1 groups in registers, expected .*`
		dsl.NewRowStream(x, 512, dsl.RowBuffer{Copies: 1, Kept: 1})   // want `D401: row stream of 512 .* with 1 copies and 1 groups in registers, expected .*`
		dsl.NewRowStream(x, 1024, dsl.RowBuffer{Copies: 1}).Each(nil) // want `D205: Each is called with a nil function`
		dsl.FloatsOf(dsl.Global[dsl.U32](k, "u"))                     // want `D205: FloatsOf has type \.u32, expected \.f32, \.f16 or \.bf16`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		w := dsl.NewWarpTile[dsl.F32](k, dsl.ScaledMMAFor(isa.E2m1, isa.E2m1, dsl.NVFP4), 16, 16)
		x := k.SharedTile("x",
			dsl.Tile{Type: isa.E2m1, Rows: 128, Cols: 256, Swizzle: dsl.Swizzle128})
		s := k.SharedTile("s", dsl.Tile{Type: isa.U64, Rows: 1, Cols: 256})
		w.ScaledMMA(x, k.U32(0), x, k.U32(0), s, s) // want `D102: sm_100a does not support block-scaled mma\.sync, which only sm_120a and its family have; on sm_100a use ScaledMMA of tensor memory`
	}},
	// accumulators in tensor memory that are released
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		acc := k.TMEM("acc", 128, 64, 2)
		k.Roles(
			dsl.OnWarp(0, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) { // want `D501: body of Fill issues no MMA into acc: Drain would read undefined values`
					d.Release() // want `D501: Release is called on an accumulator that MMAs still write; release the one that Drain provides`
				})
			}),
			dsl.OnWarpgroup(1, "write", func() {
				acc.Drain(func(d *dsl.AccumulatorStage) {
					k.If(d.Row().LTI(4), func() { d.Release() }) // want `D501: Release is called inside a condition or a loop; the body of Drain must release the accumulator exactly once on every path`
					d.Load(0, 32)
					d.Release()
					d.Load(32, 32) // want `D501: accumulator is read after Release or Output\.StoreTMEM: later MMAs may already overwrite it`
					d.Release()    // want `D501: accumulator acc is released twice`
				})
			}),
		)
	}},
}
