// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package moe is the first half of a mixture-of-experts layer on Hopper: a grouped GEMM of
// block-scaled FP8 matrices with a SwiGLU activation. The rows of each expert are multiplied by
// two weight matrices, and the activation combines the two products in registers.
package moe

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

type (
	f32 = dsl.Reg[dsl.F32]
	u32 = dsl.Reg[dsl.U32]
)

// Block is the number of elements along K that share a scale factor. In the weights, Block rows
// also share it. A tile of the result has tileRows rows and tileCols columns.
const (
	Block    = 128
	tileRows = 128
	tileCols = 64
	stages   = 5
	group    = 8
)

// Build adds to m a kernel that computes, for each expert i, the rows from starts[i] to
// starts[i+1]-1 of D as silu(A G') * (A U'), from the same rows of A and the i-th matrices of the
// weights G and U. A (all rows x k), G and U (experts x n x k) are matrices of E4M3, and D (all
// rows x n) of BF16. factors_a has a scale factor for each row and Block elements of K, stored
// row by row. factors_g and factors_u have one for each expert, Block rows and Block elements of
// K. n is a multiple of 8, and k of 16. The grid is persistent.
//
// Tensor cores keep few bits in sums of FP8 products, so each block of K is summed separately.
func Build(m *dsl.Module) {
	k := m.Kernel("moe_swiglu", dsl.Warpgroups(3))
	a := k.Tensor("a", isa.E4m3, []int{tileRows, Block}, dsl.Swizzle128)
	gate := k.Tensor("gate", isa.E4m3, []int{1, tileCols, Block}, dsl.Swizzle128)
	up := k.Tensor("up", isa.E4m3, []int{1, tileCols, Block}, dsl.Swizzle128)
	d := k.Matrix("d", isa.Bf16)
	factorsA := dsl.Global[dsl.F32](k, "factors_a")
	factorsG, factorsU := dsl.Global[dsl.F32](k, "factors_g"), dsl.Global[dsl.F32](k, "factors_u")
	starts, experts := dsl.Global[dsl.U32](k, "starts"), dsl.Param[dsl.U32](k, "experts")
	cols, depth := dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")

	pipe := k.Pipeline("tiles", stages, a.Feed(), gate.Feed(), up.Feed())
	tiles := k.PersistentGroups(starts, experts, tileRows, cols.CeilDiv(tileCols), group)
	steps, blocks := depth.CeilDiv(Block), cols.CeilDiv(Block)
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range tiles.Each() {
				for s := range pipe.Produce(steps) {
					col := s.Iteration().MulI(Block)
					a.LoadStage(s, at.FirstRow, col)
					gate.LoadStage(s, at.Group, at.TileCol.MulI(tileCols), col)
					up.LoadStage(s, at.Group, at.TileCol.MulI(tileCols), col)
				}
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "multiply", func(half u32) {
			for at := range tiles.Each() {
				gates, ups := k.Accumulator(64, tileCols, isa.F32),
					k.Accumulator(64, tileCols, isa.F32)
				gates.Clear()
				ups.Clear()
				row := half.MadI(64, at.FirstRow)
				ofWeights := at.Group.Mad(blocks, at.TileCol.DivI(Block/tileCols)).Mul(steps)
				for s := range pipe.Consume(steps) {
					partG, partU := k.Accumulator(64, tileCols, isa.F32),
						k.Accumulator(64, tileCols, isa.F32)
					partG.MMA(a.InStage(s).Part(half, 2), gate.InStage(s))
					partU.MMA(a.InStage(s).Part(half, 2), up.InStage(s))
					ofG := factorsG.Load(ofWeights.Add(s.Iteration()), dsl.NC)
					ofU := factorsU.Load(ofWeights.Add(s.Iteration()), dsl.NC)
					var ofA []f32
					for i := range partG.LocalRows() {
						// rows after the last row of the expert are not stored
						local := row.Add(partG.Row(i)).Min(at.EndRow.SubI(1))
						ofA = append(ofA, factorsA.Load(local.Mad(steps, s.Iteration()), dsl.NC))
					}
					partU.Wait()
					promote(gates, partG, ofA, ofG)
					promote(ups, partU, ofA, ofU)
				}
				dsl.PromoteAccumulator(gates, ups, func(_ dsl.Cell, gate, up f32) f32 {
					return silu(gate).Mul(up)
				})
				gates.Store(d.Sized(at.EndRow, cols), row, at.TileCol.MulI(tileCols))
			}
		}).Regs(232),
	)
}

// promote adds the sums of one block of K, multiplied by their scale factors, to the total.
func promote(total, part *dsl.Accumulator, ofA []f32, ofB f32) {
	dsl.PromoteAccumulator(total, part, func(c dsl.Cell, sum, x f32) f32 {
		return x.FMA(ofA[c.LocalRow].Mul(ofB), sum)
	})
}

// silu returns x / (1 + exp(-x)).
func silu(x f32) f32 {
	return x.Mul(x.MulF(-math.Log2E).Exp2(dsl.Approx).AddF(1).Rcp(dsl.Approx))
}
