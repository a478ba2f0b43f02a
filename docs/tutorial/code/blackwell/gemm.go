// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package blackwell multiplies matrices of bfloat16 with tcgen05; two blocks work as a pair.
package blackwell

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// The tile of D that a pair of blocks computes, the depth of a step, and the number of stages.
// Each block of a pair holds 128 rows of A and half of the rows of B.
const (
	blockM, pairN, tileK = 128, 256, 64
	stages               = 4
)

// Build adds the kernel gemm(a, b, d, m, n, k) to a module: D = A * B' for bfloat16 matrices
// A (m x k), B (n x k) and D (m x n), with F32 accumulators. n and k are multiples of 8.
func Build(m *dsl.Module) {
	k := m.Kernel("gemm", dsl.Threads(256), dsl.Cluster(2))
	k.CTAPair()
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: blockM, Cols: tileK}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: pairN / 2, Cols: tileK}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: blockM, Cols: pairN}, dsl.Swizzle128)
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")

	ab := k.Pipeline("ab", stages, a.Feed(), b.Feed())
	acc := k.TMEM("acc", 2*blockM, pairN, 2) // two accumulators of 256 rows
	out := k.Output("out", d, 1)
	tiles := k.Persistent(rows.CeilDiv(blockM), cols.CeilDiv(pairN), 8)
	steps := depth.CeilDiv(tileK)

	k.Roles(
		dsl.OnWarp(0, "load", func() {
			rank := k.ClusterRank().AndI(1)
			for at := range tiles.Each() {
				half := at.Col.MulI(2).Add(rank) // which half of the tile's rows of B
				for s := range ab.Produce(steps) {
					s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(half, s.Iteration()))
				}
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			for range tiles.Each() {
				acc.Fill(func(d *dsl.AccumulatorStage) {
					for s := range ab.Consume(steps) {
						d.MMA(s.Tile(a), s.Tile(b))
					}
				})
			}
		}),
		dsl.OnWarpgroup(1, "write", func() {
			for at := range tiles.Each() {
				acc.Drain(func(d *dsl.AccumulatorStage) {
					out.StoreTMEM(d, at.Row.MulI(blockM), at.Col.MulI(pairN))
				})
			}
			out.Wait()
		}),
	)
}
