// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// blackwellFeatures are kernels with MMAs into tensor memory, and with tiles that blocks of a
// cluster share.
var blackwellFeatures = []feature{
	{"tiles of rows and columns of a cluster", "sm_90a", func(m *dsl.Module) {
		k := m.Kernel("k", dsl.Warpgroups(2), dsl.Cluster(2, 2))
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
		b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		d := k.Matrix("d", isa.F32).Sized(k.U32(512), k.U32(512))
		ab := k.Pipeline("ab", 3, a.Feed().MulticastRow(), b.Feed().MulticastCol())
		tiles := k.Persistent(k.U32(8), k.U32(4), 4)
		k.Roles(
			dsl.OnWarpgroup(0, "load", func() {
				for at := range tiles.Each() {
					for s := range ab.Produce(k.U32(8)) {
						s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
						s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
					}
				}
			}),
			dsl.OnWarpgroup(1, "multiply", func() {
				for at := range tiles.Each() {
					acc := k.Accumulator(64, 128, isa.F32)
					for s := range ab.Consume(k.U32(8)) {
						acc.MMA(s.Tile(a), s.Tile(b))
					}
					acc.Wait()
					dsl.EachElement(acc, func(row, col u32, x, y f32) {
						d.StoreRow(at.Row.MadI(64, row), at.Col.MadI(128, col), []f32{x, y})
					})
				}
			}),
		)
	}, "multicast::cluster"},
}
