// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package simt is a kernel that multiplies F32 matrices without tensor cores.
package simt

import "github.com/ptxdsl/ptxdsl/dsl"

const (
	tile  = 128 // rows and columns of the tile of D that a block computes
	depth = 8   // columns of A, and rows of B, that a step multiplies
	part  = 8   // rows and columns of D that a thread computes
)

// Build adds to m a kernel that computes d = a * b for row-major F32 matrices a (m x k) and b (k
// x n). m and n are multiples of tile, and k is a multiple of depth. A block of 256 threads
// computes 128x128 elements of d, and each thread computes 8x8 elements.
func Build(m *dsl.Module) {
	k := m.Kernel("matmul_simt", dsl.Threads(256))
	a, b, d := dsl.Global[dsl.F32](k, "a"), dsl.Global[dsl.F32](k, "b"), dsl.Global[dsl.F32](k, "d")
	n, length := dsl.Param[dsl.U32](k, "n"), dsl.Param[dsl.U32](k, "k")
	// the tile of a is stored transposed, so that the eight rows of a thread are contiguous
	as := dsl.Shared[dsl.F32](k, "as", depth, tile+4)
	bs := dsl.Shared[dsl.F32](k, "bs", depth, tile)
	tid := k.TID().X
	top, left := k.CTAID().Y.MulI(tile), k.CTAID().X.MulI(tile)
	row, col := tid.ShrI(4).MulI(part), tid.AndI(15).MulI(part)

	var sums [part][part]dsl.Reg[dsl.F32]
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] = k.F32(0).Var()
		}
	}
	loadRow, loadCol := tid.ShrI(1), tid.AndI(1).MulI(4) // tile of a: 128 rows of two vectors
	// the tile of a has 128 rows of two vectors
	loadDepth, loadAcross := tid.ShrI(5), tid.AndI(31).MulI(4)
	for at := range k.RangeStep(k.U32(0), length, k.U32(depth)) {
		va := a.LoadVec(top.Add(loadRow).Mad(length, at.Add(loadCol)), 4)
		vb := b.LoadVec(at.Add(loadDepth).Mad(n, left.Add(loadAcross)), 4)
		k.Sync()
		for i, v := range va {
			as.Store(as.Index(loadCol.AddI(int64(i)), loadRow), v)
		}
		bs.StoreVec(bs.Index(loadDepth, loadAcross), vb)
		k.Sync()
		for step := range depth {
			x := append(as.LoadVec(as.Index(k.U32(step), row), 4),
				as.LoadVec(as.Index(k.U32(step), row.AddI(4)), 4)...)
			y := append(bs.LoadVec(bs.Index(k.U32(step), col), 4),
				bs.LoadVec(bs.Index(k.U32(step), col.AddI(4)), 4)...)
			for i := range sums {
				for j := range sums[i] {
					sums[i][j].Set(x[i].FMA(y[j], sums[i][j]))
				}
			}
		}
	}
	for i := range sums {
		line := top.Add(row).AddI(int64(i)).Mad(n, left.Add(col))
		d.StoreVec(line, sums[i][:4])
		d.StoreVec(line.AddI(4), sums[i][4:])
	}
}
