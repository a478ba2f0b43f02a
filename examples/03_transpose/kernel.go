// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package transpose has two kernels that transpose a matrix through shared memory without bank
// conflicts.
package transpose

import "github.com/ptxdsl/ptxdsl/dsl"

const (
	side = 32 // rows and columns of a tile
	rows = 8  // rows of threads in a block
)

// Build adds to m two kernels that transpose an F32 matrix in tiles of 32x32, with blocks of 32x8
// threads. x has rows x cols elements and y has cols x rows; both numbers are multiples of 32. If
// the rows of a tile had 32 elements in the original order, all elements of a column would be in
// the same bank of shared memory. transpose_padded avoids this with one unused element at the end
// of each row; transpose_swizzled permutes the columns of each row, which needs no more memory.
func Build(m *dsl.Module) {
	transpose(m, "transpose_padded", side+1, func(row, col dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32] {
		return col
	})
	transpose(m, "transpose_swizzled", side, func(row, col dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32] {
		return col.Xor(row)
	})
}

// transpose adds a kernel whose tile has pitch elements per row. The function order returns the
// position in the tile of an element of a row: a permutation of the columns.
func transpose(m *dsl.Module, name string, pitch int,
	order func(row, col dsl.Reg[dsl.U32]) dsl.Reg[dsl.U32]) {
	k := m.Kernel(name, dsl.Threads(side, rows))
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
	height, width := dsl.Param[dsl.U32](k, "rows"), dsl.Param[dsl.U32](k, "cols")
	tile := dsl.Shared[dsl.F32](k, "tile", side, pitch)
	tx, ty := k.TID().X, k.TID().Y
	left, top := k.CTAID().X.MulI(side), k.CTAID().Y.MulI(side)
	for j := 0; j < side; j += rows { // a Go loop, so the PTX is unrolled
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

// Reference returns the transposed matrix, computed on the CPU.
func Reference(x []float32, height, width int) []float32 {
	y := make([]float32, len(x))
	for i := range height {
		for j := range width {
			y[j*height+i] = x[i*width+j]
		}
	}
	return y
}
