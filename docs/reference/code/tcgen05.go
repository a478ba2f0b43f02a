// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TCGEN05 shows a GEMM with tcgen05 on a CTA pair.
func TCGEN05(m *dsl.Module) {
	k := m.Kernel("tcgen05", dsl.Threads(256), dsl.Cluster(2))

	//cuda: `cta_group::2`: two blocks work as a pair
	k.CTAPair()

	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)

	//cuda:text B; each block of the pair holds half of the rows
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)

	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 128, Cols: 256}, dsl.Swizzle128)
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")
	ab := k.Pipeline("ab", 3, a.Feed(), b.Feed())

	//cuda: `tcgen05.alloc` of two accumulators, with their barriers
	acc := k.TMEM("acc", 256, 256, 2)

	out := k.Output("out", d, 1)
	tiles := k.Persistent(rows.CeilDiv(128), cols.CeilDiv(256), 8)
	steps := depth.CeilDiv(64)
	load := dsl.OnWarp(0, "load", func() {
		for at := range tiles.Each() {
			half := at.Col.MulI(2).Add(k.ClusterRank().AndI(1))
			for s := range ab.Produce(steps) {
				s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
				s.Load(b, dsl.TileAt(half, s.Iteration()))
			}
		}
	})

	//cuda: one thread: `tcgen05.mma`, `tcgen05.commit`
	multiply := dsl.OnWarp(1, "multiply", func() {
		for range tiles.Each() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				for s := range ab.Consume(steps) {
					d.MMA(s.Tile(a), s.Tile(b))
				}
			})
		}
	})

	//cuda: a warpgroup: `tcgen05.ld`, convert, TMA store
	write := dsl.OnWarpgroup(1, "write", func() {
		for at := range tiles.Each() {
			acc.Drain(func(d *dsl.AccumulatorStage) {
				out.StoreTMEM(d, at.Row.MulI(128), at.Col.MulI(256))
			})
		}
		out.Wait()
	})

	k.Roles(load, multiply, write)
}
