// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package grouped is the matrix multiplication of a mixture-of-experts layer on Hopper. Rows are
// sorted by expert, and one launch multiplies the rows of each expert by the weights of that
// expert. The kernel reads the number of rows per expert from device memory, so the host does not
// have to wait until it is known.
package grouped

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Tiling describes the tile of a block and the pipeline that loads its operands.
type Tiling struct {
	M, N, K int // size of a tile; each of two warpgroups computes half of the rows
	Stages  int
	Group   int // number of rows of tiles that are assigned together
}

// Tilings for experts with many rows and with few rows. Large has a higher throughput; with
// Small, fewer multiprocessors are idle.
var (
	Large = Tiling{M: 128, N: 256, K: 64, Stages: 3, Group: 8}
	Small = Tiling{M: 128, N: 128, K: 64, Stages: 5, Group: 8}
)

// Build adds to m a kernel that computes, for each expert i, the rows from starts[i] to
// starts[i+1]-1 of D as the product of the same rows of A and the transpose of the i-th matrix of
// B. The matrices are bfloat16: A (all rows x k), B (experts x n x k) and D (all rows x n); the
// accumulators are F32. The tensor map d and the pointer out refer to the same matrix: the TMA
// stores whole tiles, and threads store the last rows of an expert if these do not fill a tile. n
// and k are multiples of 8.
func Build(m *dsl.Module, t Tiling) {
	k := m.Kernel("matmul_grouped", dsl.Warpgroups(3))
	a := k.Tensor("a", isa.Bf16, []int{t.M, t.K}, dsl.Swizzle128)
	b := k.Tensor("b", isa.Bf16, []int{1, t.N, t.K}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: t.N}, dsl.Swizzle128)
	out := k.Matrix("out", isa.Bf16)
	starts := dsl.Global[dsl.U32](k, "starts")
	experts, cols, depth := dsl.Param[dsl.U32](k, "experts"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")

	ab := k.Pipeline("ab", t.Stages, a.Feed(), b.Feed())
	through := k.Output("tile", d, 2)
	tiles := k.PersistentGroups(starts, experts, t.M, cols.CeilDiv(int64(t.N)), t.Group)
	steps := depth.CeilDiv(int64(t.K))

	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range tiles.Each() {
				for s := range ab.Produce(steps) {
					step := s.Iteration().MulI(int64(t.K))
					a.LoadStage(s, at.FirstRow, step)
					b.LoadStage(s, at.Group, at.TileCol.MulI(int64(t.N)), step)
				}
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "math", func(half dsl.Reg[dsl.U32]) {
			for at := range tiles.Each() {
				acc := k.Accumulator(64, t.N, isa.F32)
				for s := range ab.Consume(steps) {
					acc.MMA(a.InStage(s).Part(half, 2), b.InStage(s))
				}
				row, col := half.MadI(64, at.FirstRow), at.TileCol.MulI(int64(t.N))
				k.If(row.AddI(64).LE(at.EndRow), func() {
					through.Store(acc, 0, half, row, col)
				}, func() {
					acc.Store(out.Sized(at.EndRow, cols), row, col)
				})
			}
			through.Wait()
		}).Regs(232),
	)
}
