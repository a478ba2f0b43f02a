// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongFeatures are mistakes with sparse products in tensor memory.
var wrongFeatures = []wrongKernel{
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		k.SparsityMap("e", k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 64, Cols: 128}, dsl.Swizzle128)) // want `D401: a sparsity map e for tiles of 64x128 \.e4m3 .*; 128 rows of a multiple of 64 bytes are expected`
	}},
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) { k.SparsityMap("e", nil) }}, // want `D201: a sparsity map e of a tensor map that no builder call made`
	{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		acc := k.TMEM("acc", 128, 128, 1) // want `D501: nothing arrives at acc full|D501: nothing arrives at acc empty`
		acc.Sparsity(nil)                 // want `D201: tensor memory for the zeros of a tensor map that no builder call made`
	}},
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.ScaledMMA(dsl.MXFP8, t.x, t.y, t.sx, t.sy) // want `D401: MMA of 128x128 \.e4m3 .* and 128x256 \.e4m3 .*: rows of one length, a multiple of 32 elements, are expected`
	}),
	sparseScaled(128, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D401: sparse MMA of 128x128 .* and 128x128 .*: half as many columns as the second has are expected of the first, a multiple of 32`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8, t.x, t.e, t.y, t.sx, t.sy) // want `D401: block-scaled MMA of .* with a \.ue8m0 for 32 numbers: tcgen05 has no kind for it`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.y, t.y, t.sx, t.sy) // want `D401: the zeros of 128x128 \.e4m3 .* are told by 128x256 \.e4m3 .*; a tile of its SparsityMap is expected`
	}),
	sparseScaled(256, true, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.e, t.sy) // want `D401: scale factors 1x512 \.u64 for tiles 256 deep; a ScaleMap of that depth is expected`
	}),
	sparseScaled(256, true, false, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D501: 0 columns of tensor memory tell the zeros of 128x128 .*, which takes 8; say Sparsity when the accumulators are made`
	}),
	sparseScaled(256, false, true, func(d *dsl.AccumulatorStage, t sparseTiles) {
		d.SparseScaledMMA(dsl.MXFP8.Sparse(), t.x, t.e, t.y, t.sx, t.sy) // want `D501: no tensor memory for scale factors; say Scales when the accumulators are made`
	}),
}

// sparseTiles are the tiles of a stage: a sparse product, its zeros, and its scale factors.
type sparseTiles struct{ x, e, y, sx, sy dsl.SharedTile }

// sparseScaled is a kernel that multiplies tiles of E4M3, of which the second has so many columns, with tensor memory for scale
// factors and for what tells zeros, or without.
func sparseScaled(cols int, scales, places bool, multiply func(*dsl.AccumulatorStage, sparseTiles)) wrongKernel {
	return wrongKernel{"sm_100a", func(_ *dsl.Module, k *dsl.Kernel) {
		a := k.TensorMap("a", isa.E4m3, dsl.Box{Rows: 128, Cols: 128}, dsl.Swizzle128)
		b := k.TensorMap("b", isa.E4m3, dsl.Box{Rows: 128, Cols: cols}, dsl.Swizzle128)
		sfa, sfb := k.ScaleMap("sfa", dsl.MXFP8.Sparse(), 128, 256), k.ScaleMap("sfb", dsl.MXFP8.Sparse(), 128, 256)
		e := k.SparsityMap("e", a)
		p := k.Pipeline("p", 2, a.Feed(), b.Feed(), sfa.Feed(), sfb.Feed(), e.Feed())
		acc := k.TMEM("acc", 128, 128, 1)
		if scales {
			acc.Scales(dsl.MXFP8.Sparse(), 256)
		}
		if places {
			acc.Sparsity(a)
		}
		k.Roles(
			dsl.OnWarp(0, "load", func() {
				for s := range p.Produce(k.U32(1)) {
					for _, m := range []*dsl.TensorMap{a, b, sfa, sfb, e} {
						s.Load(m, k.U32(0), s.Index())
					}
				}
			}),
			dsl.OnWarp(1, "multiply", func() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range p.Consume(k.U32(1)) {
						multiply(d, sparseTiles{s.Tile(a), s.Tile(e), s.Tile(b), s.Tile(sfa), s.Tile(sfb)})
					}
				})
			}),
			dsl.OnWarpgroup(1, "write", func() { acc.Drain(func(*dsl.AccumulatorStage) {}) }),
		)
	}}
}
