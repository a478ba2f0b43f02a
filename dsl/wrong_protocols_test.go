// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongProtocols are mistakes with matrices, schedules, clusters and what else a kernel shares.
var wrongProtocols = []wrongKernel{
	// Matrices.
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Matrix("a", isa.E2m3) }},               // want `D205: a matrix of \.e2m3; numbers of 1, 2, 4, 8, 16, 32 or 64 bits are expected`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Matrix("a", isa.F32).From(k.U32(0)) }}, // want `D401: From of matrix a, whose size nobody said; Sized does`
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Matrix("a", isa.F16).CopyAsync(t, k.U32(0)) // want `D401: CopyAsync of matrix a, whose size nobody said; Sized does`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Matrix("a", isa.F32).Sized(k.U32(64), k.U32(64)).CopyAsync(t, k.U32(0)) // want `D401: matrix a of \.f32 is copied into 64x64 \.f16 .*: the element types differ`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		t := k.SharedTile("t", dsl.Tile{Type: isa.F16, Rows: 60, Cols: 64, Swizzle: dsl.Swizzle128})
		k.Matrix("a", isa.F16).Sized(k.U32(64), k.U32(64)).CopyAsync(t, k.U32(0)) // want `D401: 60x64 \.f16 .* copied by 256 threads: 8 units of 16 bytes a row and 60 rows do not come out even`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w := dsl.NewWarpTile[dsl.S32](k, dsl.MMAFor(isa.S8, isa.S32), 16, 16)
		w.Store(k.Matrix("d", isa.F32).Sized(k.U32(64), k.U32(64)), k.U32(0), k.U32(0)) // want `D401: sums of \.s32 are stored to matrix d of \.f32`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) {
		w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), 16, 16)
		w.Place(k.WarpIndex(), 0) // want `D401: 0 warps across; a positive number is expected`
	}},
	{"sm_80", func(_ *dsl.Module, k *dsl.Kernel) { k.Grouped(k.U32(4), k.U32(4), 0) }}, // want `D501: groups of 0 rows of tiles; a positive number is expected`
	// Padded numbers.
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 64, Cols: 128, Padded: true}, dsl.Swizzle128) // want `D401: tensor map a: 64x128 \.e4m3, padded, .*: numbers of 4 and 6 bits are padded`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.TensorMap("a", isa.E2m3, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle64) // want `D401: tensor map a: 64x64 \.e2m3 .*: copies of padded numbers move 128 of a row, with a swizzle of 128 bytes or none`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
		b := k.TensorMap("b", isa.E2m1, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle64)
		sfa, sfb := k.ScaleMap("sfa", dsl.MXFP8, 128, 128), k.ScaleMap("sfb", dsl.MXFP8, 128, 128)
		p := k.Pipeline("p", 2, a.Feed(), b.Feed(), sfa.Feed(), sfb.Feed())
		acc := k.TMEM("acc", 128, 128, 1).Scales(dsl.MXFP8, 128) // want `D501: nothing arrives at acc empty`
		k.Roles(dsl.OnWarp(1, "multiply", func() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				for s := range p.Consume(k.U32(1)) {
					d.ScaledMMA(dsl.MXFP8, s.Tile(a), s.Tile(b), s.Tile(sfa), s.Tile(sfb)) // want `D401: block-scaled MMA of .*: tcgen05 has no kind for it; with numbers of 6 and 8 bits, those of 4 are padded`
				}
			})
		}))
	}},
}
