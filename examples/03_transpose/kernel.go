// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package transpose transposes a matrix through shared memory, without bank conflicts.
package transpose

import "github.com/ptxdsl/ptxdsl/dsl"

const (
	side = 32 // of a tile
	rows = 8  // of threads
)

// Build makes two kernels that transpose a matrix of F32 in tiles of 32x32, with blocks of 32x8 threads: y (cols x rows) from x
// (rows x cols), both sizes multiples of 32. A column of a plain tile lies in one bank of shared memory; one kernel avoids
// that with a column more in each row, the other by a swizzle, which needs no more memory.
func Build(m *dsl.Module) {
	transpose(m, "transpose_padded", side+1, func(row, col dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32] { return col })
	transpose(m, "transpose_swizzled", side, func(row, col dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32] { return col.Xor(row) })
}

// transpose makes a kernel whose tile has rows of a length, and each row its columns in an order.
func transpose(m *dsl.Module, name string, pitch int, order func(row, col dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32]) {
	k := m.Kernel(name, dsl.Threads(side, rows))
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
	height, width := dsl.Param[dsl.U32](k, "rows"), dsl.Param[dsl.U32](k, "cols")
	tile := dsl.Shared[dsl.F32](k, "tile", side, pitch)
	tx, ty := k.TID().X, k.TID().Y
	left, top := k.CTAID().X.MulI(side), k.CTAID().Y.MulI(side)
	for j := 0; j < side; j += rows { // a Go loop: unrolled
		row := ty.AddI(int64(j))
		from := top.Add(row).Mad(width, left.Add(tx))
		tile.Store(tile.Index(row, order(row, tx)), x.Load(from))
	}
	k.Sync()
	for j := 0; j < side; j += rows {
		row := ty.AddI(int64(j))
		to := left.Add(row).Mad(height, top.Add(tx))
		y.Store(to, tile.Load(tile.Index(tx, order(tx, row))))
	}
}

// Reference is what the kernels compute.
func Reference(x []float32, height, width int) []float32 {
	y := make([]float32, len(x))
	for i := range height {
		for j := range width {
			y[j*height+i] = x[i*width+j]
		}
	}
	return y
}
