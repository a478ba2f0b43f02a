// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongBlackwell are mistakes with tensor memory, and with tiles that blocks of a cluster share.
var wrongBlackwell = []wrongKernel{
	{"sm_100a", func(m *dsl.Module, _ *dsl.Kernel) { // shared tiles
		k := m.Kernel("c", dsl.Threads(256), dsl.Cluster(3, 2))
		k.CTAPair() // want `D501: CTAPair is used in clusters of 6 blocks, expected Cluster\(2\) or another even number along x`
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		s := k.ScaleMap("s", dsl.NVFP4, 128, 256)
		k.Pipeline("p", 2, a.Feed().MulticastCol())                 // want `D401: 128 rows of a cannot be split into groups of eight rows for a cluster of 3 blocks`
		k.Pipeline("p", 2, s.Feed().MulticastCol())                 // want `D401: 1 rows of s cannot be split into groups of eight rows for a cluster of 3 blocks`
		for range k.DynamicSchedule(k.U32(4), k.U32(4), 1).Each() { // want `D501: DynamicSchedule is used in a cluster of 3 x 2 blocks, expected one dimension; use Persistent`
		}
	}},
	{"sm_100a", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("c", dsl.Threads(256), dsl.Cluster(2, 1, 2))
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		k.Pipeline("p", 2, a.Feed().MulticastHalf())           // want `D501: MulticastHalf is used for a without CTAPair; MulticastCol shares whole tiles`
		k.Pipeline("p", 2, a.Feed().MulticastRow())            // want `D501: a is multicast along rows and columns in a cluster of 2 x 1 x 2 blocks, expected at most two dimensions`
		for range k.Persistent(k.U32(4), k.U32(4), 1).Each() { // want `D501: schedule is used in a cluster of 2 x 1 x 2 blocks, expected at most two dimensions`
		}
	}},
	{"sm_100a", func(m *dsl.Module, k *dsl.Kernel) { // gathered and scattered rows
		row, zero := k.U32(0), k.U32(0)
		sums := func(_, n int) []f32 { return make([]f32, n) }
		out := func(t isa.Type, cols int) *dsl.Output {
			return k.Output("o",
				k.TensorMap(fmt.Sprint("m", cols, t.String()[1:]), t,
					dsl.Box{Rows: 128, Cols: cols}, dsl.Swizzle32), 1)
		}
		out(isa.S8, 64).StoreRows(row, zero, sums)  // want `D401: output tile 128x64 \.s8 with a swizzle of 32 bytes is not supported, expected \.f32, \.bf16, \.f16, \.e4m3, \.e5m2, \.e2m3, \.e3m2 or \.e2m1 with a swizzle and a multiple of 32 columns`
		out(isa.E4m3, 96).StoreRows(row, zero, nil) // want `D205: .*`
		four := out(isa.E2m1, 64)
		four.StoreScaled(nil, row, zero, sums) // want `D201: scale output in StoreScaled is a zero value, not created by a builder call`
		to := k.ScaleOutput("s", dsl.NVFP4)
		four.StoreScaled(to, row, zero, sums)                 // want `D401: scale output s has no size; use Sized`
		four.StoreScaled(to.Sized(row, zero), row, zero, nil) // want `D205: .*`
		wide := out(isa.E5m2, 96)
		wide.StoreScaled(to.Sized(row, zero), row, zero, sums)       // want `D401: output tile 128x96 \.e5m2 with a swizzle of 32 bytes with \.ue4m3 for 16 is not supported, expected \.e4m3, \.e5m2, \.e2m3, \.e3m2 or \.e2m1 and a multiple of 64 columns, or 32`
		k.ScaleOutput("t", dsl.BlockScale{Type: isa.F32, Vector: 8}) // want `D401: scale factors have type \.f32 for 8, expected \.ue8m0 or \.ue4m3, one per 16 or 32 elements`
		x := k.SharedTile("x",
			dsl.Tile{Type: isa.Bf16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128})
		four.LoadC(dsl.TileAt(row, zero))     // want `D501: LoadC is called for an output without Combine`
		four.Combine(nil, k.F32(1), k.F32(1)) // want `D201: tensor map in Combine is a zero value, not created by a builder call`
		a := k.TensorMap("a", isa.E2m1, dsl.Box{Rows: 128, Cols: 256}, dsl.Swizzle128)
		four.Combine(a, k.F32(1), k.F32(1))  // want `D401: output tile 128x64 \.e2m1 with a swizzle of 32 bytes is combined with 128x256 \.e2m1 with a swizzle of 128 bytes, expected a swizzled tile of that size of \.f32, \.bf16 or \.f16`
		a.Scaled(nil)                        // want `D201: tensor map in Scaled is a zero value, not created by a builder call`
		a.Scaled(a)                          // want `D401: scale factors a of a are not declared by ScaleMap`
		a.Sparse(nil)                        // want `D201: tensor map in Sparse is a zero value, not created by a builder call`
		k.ScaleCopy("c", dsl.NVFP4, 64, 256) // want `D401: scale factors are copied for 64x256 with one per 16 elements, expected a multiple of 128 rows and of 64 columns`
		x.LoadRow(row, 4, 8)                 // want `D401: LoadRow reads columns 4 to 11 of a row of 128x64 \.bf16 with a swizzle of 128 bytes, expected a multiple of 16 bytes from a swizzled tile of \.f32, \.bf16 or \.f16`
	}},
	{"sm_120a", func(_ *dsl.Module, k *dsl.Kernel) { // 4-bit and 6-bit elements padded to bytes
		x := k.SharedTile("x",
			dsl.Tile{Type: isa.E2m1, Rows: 64, Cols: 128, Swizzle: dsl.Swizzle64})
		y := k.SharedTile("y",
			dsl.Tile{Type: isa.E3m2, Rows: 64, Cols: 128, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MixedMMAFor(isa.E2m1, isa.E2m3, isa.F32), 16, 16)
		w.MMA(x, k.U32(0), y, k.U32(0)) // want `D401: operands of MMA, 64x128 \.e2m1 with a swizzle of 64 bytes and 64x128 \.e3m2 with a swizzle of 128 bytes, do not match shape m16n8k32, which multiplies A of \.e2m1 by B of \.e2m3: expected elements of \.e2m1 and \.e2m3, with those of 4 bits padded \(Box\.Padded\)`
	}},
	{"sm_90", func(_ *dsl.Module, k *dsl.Kernel) {
		y := k.SharedTile("y",
			dsl.Tile{Type: isa.E3m2, Rows: 64, Cols: 128, Swizzle: dsl.Swizzle128})
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MixedMMAFor(isa.E3m2, isa.E3m2, isa.F32), 16, 16)
		w.MMA(y, k.U32(0), y, k.U32(0)) // want `F402: .* of ldmatrix requires PTX 8.6 .*|F402: .*mma requires .*`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { // F16 accumulators
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		p := k.Pipeline("p", 2, a.Feed())
		acc := k.TMEM("acc", 128, 128, 1).F16Accumulators()
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(k.U32(1)) {
					s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range p.Consume(k.U32(1)) {
						d.MMA(s.Tile(a), s.Tile(a))                                                              // want `D401: operands of MMA, 128x64 \.bf16 with a swizzle of 128 bytes and 128x64 \.bf16 with a swizzle of 128 bytes, do not fit an accumulator of \.f16 \(F16Accumulators\), expected operands of \.f16, or of 8, 6 or 4 bits`
						d.ScaledMMAFromTMEM(dsl.MXFP8, &dsl.TMEMOperandStage{}, s.Tile(a), s.Tile(a), s.Tile(a)) // want `D201: operand of ScaledMMAFromTMEM is a zero value, not created by a builder call`
					}
				})
			}),
			dsl.OnWarpgroup(1, "write", func() {
				acc.Drain(func(d *dsl.AccumulatorStage) {
					dsl.LoadAccumulator[dsl.U32](d, 0, 8) // want `D401: accumulator of \.f16 in tensor memory is read as \.u32, expected \.f32`
				})
			}),
		)
	}},
}
