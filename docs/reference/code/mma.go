// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// MMA shows a GEMM with cp.async and mma.sync.
func MMA(m *dsl.Module) {
	k := m.Kernel("mma", dsl.Threads(256))
	rows, cols := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n")
	depth := dsl.Param[dsl.U32](k, "k")

	//cuda: `const half *a`, of a matrix with m rows and k columns; copies and stores are clipped
	a := k.Matrix("a", isa.F16).Sized(rows, depth)

	//cuda:text B and D, in the same way
	b := k.Matrix("b", isa.F16).Sized(cols, depth)
	d := k.Matrix("d", isa.F32).Sized(rows, cols)

	//cuda: `blockIdx.x` to a tile, in groups of 8 tile rows for the L2 cache
	at := k.BlockTile(rows.CeilDiv(128), cols.CeilDiv(128), 8)
	row, col := at.Row.MulI(128), at.Col.MulI(128)

	//cuda: `blockIdx.z` as a batch
	a = a.At(k.CTAID().Z)

	//cuda:text a ring buffer of three swizzled stages in shared memory
	tile := dsl.Tile{Type: isa.F16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128}
	ab := k.AsyncPipeline("ab", 3, tile, tile)

	//cuda: the shape of `mma.sync` for a type
	shape := m.MMAFor(isa.F16, isa.F32)

	//cuda:text the accumulator of a warp: 64 rows and 32 columns; 8 warps in two rows of four
	w := dsl.NewWarpTile[dsl.F32](k, shape, 64, 32)
	fromA, fromB := w.Origin(k.WarpIndex(), 4)

	//cuda: `cp.async` of a tile by all threads; `ldmatrix` and `mma.sync`
	ab.Run(depth.CeilDiv(64), func(step u32, s dsl.AsyncStage) {
		a.RowsFrom(row).CopyAsync(s.Tile(0), step.MulI(64))
		b.RowsFrom(col).CopyAsync(s.Tile(1), step.MulI(64))
	}, func(step u32, s dsl.AsyncStage) {
		w.MMA(s.Tile(0), fromA, s.Tile(1), fromB)
	})

	//cuda:text an activation, a mask or a scale, applied to each element of the accumulator
	w.Map(func(c dsl.Cell, x f32) f32 { return x.MaxF(0) })

	//cuda:text the maximum of each row, which four lanes hold
	most := w.RowReduce(func(a, b f32) f32 { return a.Max(b) })
	w.Map(func(c dsl.Cell, x f32) f32 { return x.Sub(most[c.LocalRow]) })

	//cuda: the epilogue with `if (row < m && col < n)`
	w.Store(d, row.Add(fromA), col.Add(fromB))
}
