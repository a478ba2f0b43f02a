// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package gemm80 multiplies matrices of bfloat16 with cp.async and mma.sync.
package gemm80

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// The tile of D that a block computes, the depth of a step, and the number of stages.
const (
	tileM, tileN, tileK = 128, 128, 64
	stages              = 3
)

// Build adds the kernel gemm(a, b, d, m, n, k) to a module: D = A * B', with A m x k, B n x k and
// D m x n. A and B are bfloat16, D is float32. k is a multiple of 8 and n is even.
func Build(m *dsl.Module) {
	k := m.Kernel("gemm", dsl.Threads(256))
	a, b, d := k.Matrix("a", isa.Bf16), k.Matrix("b", isa.Bf16), k.Matrix("d", isa.F32)
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")

	// Which tile of D this block computes.
	at := k.BlockTile(rows.CeilDiv(tileM), cols.CeilDiv(tileN), 8)
	row, col := at.Row.MulI(tileM), at.Col.MulI(tileN)
	a, b = a.Sized(rows, depth).RowsFrom(row), b.Sized(cols, depth).RowsFrom(col)

	// The ring of stages in shared memory, and the part of the tile that one warp computes.
	tileA := dsl.Tile{Type: isa.Bf16, Rows: tileM, Cols: tileK, Swizzle: dsl.Swizzle128}
	tileB := dsl.Tile{Type: isa.Bf16, Rows: tileN, Cols: tileK, Swizzle: dsl.Swizzle128}
	ab := k.AsyncPipeline("ab", stages, tileA, tileB)
	w := dsl.NewWarpTile[dsl.F32](k, m.MMAFor(isa.Bf16, isa.F32), tileM/2, tileN/4)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)

	load := func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
		at := step.MulI(tileK)
		a.CopyAsync(s.Tile(0), at)
		b.CopyAsync(s.Tile(1), at)
	}
	multiply := func(step dsl.Reg[dsl.U32], s dsl.AsyncStage) {
		w.MMA(s.Tile(0), fromA, s.Tile(1), fromB)
	}
	ab.Run(depth.CeilDiv(tileK), load, multiply)
	w.Store(d.Sized(rows, cols), row.Add(fromA), col.Add(fromB))
}
