// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package fp8 is a kernel that multiplies block-scaled FP8 matrices on the tensor cores of
// Hopper. These do not support scale factors, so partial sums are scaled and added in F32.
package fp8

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Block is the number of elements along K that share a scale factor. In A, each row has its own
// scale factors; in B, Block rows share them. A tile of the result has Block rows and Block
// columns, and a pipeline stage holds Block elements of each row.
const (
	Block  = 128
	stages = 6
	group  = 8
)

// Factors returns the number of scale factors of a matrix with the given rows and k columns, if
// the matrix is A and if it is B. For each block of K, A has one factor per row, with the rows
// rounded up to whole tiles, and B has one factor per tile.
func Factors(rows, k int) (a, b int) {
	tiles, blocks := (rows+Block-1)/Block, (k+Block-1)/Block
	return blocks * tiles * Block, tiles * blocks
}

// Takes returns an error if the kernel does not support the sizes.
func Takes(n, k int) error {
	switch {
	case k%16 != 0:
		return fmt.Errorf("rows of %d elements, expected a multiple of 16", k)
	case n%2 != 0:
		return fmt.Errorf("a result of %d columns, expected an even number", n)
	}
	return nil
}

// Build adds to m a kernel that computes D = A * B' for E4M3 matrices A (m x k) and B (n x k),
// whose elements are multiplied by the scale factor of their block, and a BF16 matrix D (m x n).
// One warpgroup loads, and two warpgroups compute 64 rows each. The tensor cores keep few bits in
// FP8 sums and do not apply scale factors, so they compute the sum of each block of K separately,
// and threads scale and add these sums in F32. The grid is persistent and may have any size.
func Build(m *dsl.Module) {
	k := m.Kernel("matmul_fp8", dsl.Warpgroups(3))
	box := dsl.Box{Rows: Block, Cols: Block}
	a, b := k.TensorMap("a", isa.E4m3, box, dsl.Swizzle128),
		k.TensorMap("b", isa.E4m3, box, dsl.Swizzle128)
	factorsA := dsl.ChunkOf(dsl.Global[dsl.F32](k, "factors_a"), Block)
	factorsB, d := dsl.Global[dsl.F32](k, "factors_b"), k.Matrix("d", isa.Bf16)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	down, steps := rows.CeilDiv(Block), length.CeilDiv(Block)
	d = d.Sized(rows, cols)

	ab := k.Pipeline("ab", stages, a.Feed(), b.Feed(), factorsA.Feed())
	tiles := k.Persistent(down, cols.CeilDiv(Block), group)
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range tiles.Each() {
				for s := range ab.Produce(steps) {
					s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
					factorsA.Load(s, s.Iteration().Mad(down, at.Row))
				}
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "multiply", func(half dsl.Reg[dsl.U32]) {
			for at := range tiles.Each() {
				total := k.Accumulator(64, Block, isa.F32)
				total.Clear()
				for s := range ab.Consume(steps) {
					part := k.Accumulator(64, Block, isa.F32)
					part.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
					ofB := factorsB.Load(at.Col.Mad(steps, s.Iteration()), dsl.NC)
					ofA := factorsA.InStage(s).At(half.MulI(64))
					factors := make([]dsl.Reg[dsl.F32], part.LocalRows())
					for i := range factors {
						factors[i] = ofA.Load(part.Row(i)).Mul(ofB)
					}
					part.Wait()
					dsl.PromoteAccumulator(total, part,
						func(c dsl.Cell, sum, x dsl.Reg[dsl.F32]) dsl.Reg[dsl.F32] {
							return x.FMA(factors[c.LocalRow], sum)
						})
				}
				total.Store(d, half.MulI(64).Add(at.Row.MulI(Block)), at.Col.MulI(Block))
			}
		}).Regs(232),
	)
}
