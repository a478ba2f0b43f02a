// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package w4a16 has kernels that multiply 16-bit activations by 4-bit weights. Threads dequantize
// the weights in registers, between shared memory and the tensor cores.
package w4a16

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

type u32 = dsl.Reg[dsl.U32]

// Sizes of Build: tileRows and tileCols are the rows and columns of the tile of a block, whose
// eight warps are arranged in two rows and four columns; stages is the number of stages and depth
// the number of weights per column in a stage; Group is the number of weights of a column that
// share a scale; group is the number of rows of tiles that are assigned together.
const (
	tileRows, tileCols = 128, 256
	stages             = 4
	depth              = 64
	Group              = 128
	group              = 8
)

// Blocks returns the number of blocks of a launch of Build, or an error if the kernel does not
// support the sizes.
func Blocks(m, n, k int) (int, error) {
	return (n + tileCols - 1) / tileCols * ((m + tileRows - 1) / tileRows), takes(n, k)
}

// takes returns an error if the kernels do not support the sizes.
func takes(n, k int) error {
	switch {
	case k%Group != 0:
		return fmt.Errorf("columns of %d weights, expected a multiple of %d", k, Group)
	case n%pack != 0:
		return fmt.Errorf("a result of %d columns, expected a multiple of %d", n, pack)
	}
	return nil
}

// Build adds to m a kernel that computes D = A * B' for an F16 matrix A (m x k), four-bit weights
// B (n x k), and an F16 matrix D (m x n). Pack and PackScales convert B to the parameters b and
// scales. The weights of a step are dequantized during the MMAs of the previous step.
func Build(m *dsl.Module) {
	k := m.Kernel("w4a16", dsl.Threads(256))
	a, b, scales, d := k.Matrix("a", isa.F16), k.Matrix("b", isa.B32), k.Matrix("scales", isa.F16),
		k.Matrix("d", isa.F16)
	rows, cols, length := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	at := k.BlockTile(rows.CeilDiv(tileRows), cols.CeilDiv(tileCols), group)
	row, col := at.Row.MulI(tileRows), at.Col.MulI(tileCols)
	a = a.Sized(rows, length).RowsFrom(row)
	b = b.Sized(cols.DivI(pack), length.MulI(words)).RowsFrom(col.DivI(pack))
	scales = scales.Sized(length.DivI(Group), cols)

	ab := k.AsyncPipeline("ab", stages,
		dsl.Tile{Type: isa.F16, Rows: tileRows, Cols: depth, Swizzle: dsl.Swizzle128},
		dsl.Tile{Type: isa.B32, Rows: tileCols / pack, Cols: depth * words},
		dsl.Tile{Type: isa.F16, Rows: 1, Cols: tileCols})
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.F16, isa.F32), tileRows/2, pack)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)
	ab.Multiply(length.DivI(depth),
		func(step u32, s dsl.AsyncStage) {
			a.CopyAsync(s.Tile(0), step.MulI(depth))
			b.CopyAsync(s.Tile(1), step.MulI(depth*words))
			scales.RowsFrom(step.DivI(Group/depth)).CopyAsync(s.Tile(2), col)
		},
		func(s dsl.AsyncStage) dsl.MMAStep {
			return w.MMAStepFunc(s.Tile(0), fromA, func(step int) [][]dsl.Reg[dsl.B32] {
				return weights(step, s.Tile(1), fromB.DivI(pack),
					dsl.Element[dsl.F16](s.Tile(2), k.U32(0), fromB))
			})
		})
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}

// weights returns the fragments of B for one step, dequantized, and with their scales applied. A
// row of the packed tile holds the words of 64 columns; each step uses 16 weights of each column.
func weights(step int, packed dsl.SharedTile, row u32,
	scales dsl.Array[dsl.F16]) (right [][]dsl.Reg[dsl.B32]) {
	lane := row.Kernel().Lane()
	four := dsl.Element[dsl.B32](packed, row,
		lane.ShlI(2).AddI(int64(step*16*words))).LoadFirstVec(4)
	factors := dsl.As[dsl.F16x2](scales.At(lane.DivI(4).ShlI(3))).LoadFirstVec(4)
	for i, word := range four {
		x, y := dsl.Unpack[dsl.F16](factors[i])
		right = append(right, dequantize(word, x),
			dequantize(dsl.Bits[dsl.B32](dsl.Bits[dsl.U32](word).ShrI(8)), y))
	}
	return right
}

// dequantize returns the two registers of a fragment. word contains the weights in bits 0 to 7
// and 16 to 23.
func dequantize(word dsl.Reg[dsl.B32], scale dsl.Reg[dsl.F16]) []dsl.Reg[dsl.B32] {
	both := dsl.Pack[dsl.F16x2](scale, scale)
	fragment := unscaled(word)
	for i, x := range fragment {
		fragment[i] = dsl.Bits[dsl.B32](dsl.Bits[dsl.F16x2](x).Mul(both))
	}
	return fragment
}

// unscaled is dequantize without a scale. The F16 number 1024 with a weight in the lowest four
// bits of its mantissa is 1024 plus the weight; with the weight in the next four bits, it is 1024
// plus 16 times the weight.
func unscaled(word dsl.Reg[dsl.B32]) []dsl.Reg[dsl.B32] {
	k := word.Kernel()
	const masked = 0xea // the lop3 table of (a & b) | c
	low := dsl.Result[dsl.F16x2](k, "lop3.b32", word, 0x000f000f, 0x64006400, masked)
	high := dsl.Result[dsl.F16x2](k, "lop3.b32", word, 0x00f000f0, 0x64006400, masked)
	pair := func(x float64) dsl.Reg[dsl.F16x2] { return dsl.ConstF[dsl.F16x2](k, x) }
	low = low.Sub(pair(1024 + Zero))
	high = high.FMA(pair(1.0/16), pair(-1024/16-Zero))
	return []dsl.Reg[dsl.B32]{dsl.Bits[dsl.B32](low), dsl.Bits[dsl.B32](high)}
}
