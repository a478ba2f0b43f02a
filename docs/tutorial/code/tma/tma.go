// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package tma scales a matrix, tile by tile, with copies of the Tensor Memory Accelerator.
package tma

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

const (
	threads = 128
	rows    = 8 // of a tile
	cols    = 32
)

// Build adds the kernel scale(in, out, factor) to a module. Each block loads one tile, multiplies
// its elements by the factor, and stores it.
func Build(m *dsl.Module) {
	k := m.Kernel("scale", dsl.Threads(threads))
	box := dsl.Box{Rows: rows, Cols: cols}
	in := k.TensorMap("in", isa.F32, box, dsl.NoSwizzle)
	out := k.TensorMap("out", isa.F32, box, dsl.NoSwizzle)
	factor := dsl.Param[dsl.F32](k, "factor")

	tile := k.SharedTile("tile", in.Tile())
	full := k.Barrier("full", 1) // one thread arrives
	row, col := k.CTAID().Y.MulI(rows), k.CTAID().X.MulI(cols)
	first := k.TID().X.EQI(0)

	// Load: one thread announces the bytes and starts the copy; all threads wait.
	k.If(first, func() {
		full.ArriveExpect(k.U32(rows * cols * 4))
		in.Load(tile, row, col, full)
	})
	full.Wait(k.U32(0))

	// Compute: the tile has no swizzle, so that it is an ordinary array.
	for i := range rows * cols / threads {
		at := k.TID().X.AddI(int64(i * threads))
		x := dsl.Element[dsl.F32](tile, at.DivI(cols), at.RemI(cols))
		x.StoreFirst(x.LoadFirst().Mul(factor))
	}

	// Store: every thread fences what it wrote, then one thread starts the copy.
	k.FenceAsync()
	k.Sync()
	k.If(first, func() {
		out.Store(tile, row, col)
		k.CommitStores()
		k.WaitStores(0)
	})
}
