// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm

import "github.com/ptxdsl/ptxdsl/dsl"

const (
	side  = 32 // rows and columns of a tile of the kernels that copy
	lines = 8  // rows of threads in a block
	group = 8  // rows of tiles that are assigned together
)

// buildPad adds a kernel that copies a matrix of rows x cols elements to a matrix of height x
// width elements, which is at least as large, and fills the remaining elements with zeros.
func buildPad[T dsl.Scalar](m *dsl.Module) {
	k := m.Kernel("pad", dsl.Threads(side, lines))
	to, from := dsl.Global[T](k, "to"), dsl.Global[T](k, "from")
	rows, cols, height, width := sizes(k)
	each(k, height, width, func(row, col dsl.Reg[dsl.U32]) {
		x := load(from, row, col, rows, cols)
		to.At64(dsl.MulWide[dsl.U64](row, width)).Store(col, x)
	})
}

// buildTranspose is like buildPad for a matrix that is stored transposed: as cols rows with rows
// elements each.
func buildTranspose[T dsl.Scalar](m *dsl.Module) {
	k := m.Kernel("transpose", dsl.Threads(side, lines))
	to, from := dsl.Global[T](k, "to"), dsl.Global[T](k, "from")
	rows, cols, height, width := sizes(k)
	tile := dsl.Shared[T](k, "tile", side, side+1)
	at := k.BlockTile(height.CeilDiv(side), width.CeilDiv(side), group)
	top, left := at.Row.MulI(side), at.Col.MulI(side)
	tx, ty := k.TID().X, k.TID().Y
	for j := int64(0); j < side; j += lines {
		x := load(from, left.Add(ty.AddI(j)), top.Add(tx), cols, rows)
		tile.Store(tile.Index(ty.AddI(j), tx), x)
	}
	k.Sync()
	for j := int64(0); j < side; j += lines {
		row, col := top.Add(ty.AddI(j)), left.Add(tx)
		x := tile.Load(tile.Index(tx, ty.AddI(j)))
		k.If(row.LT(height), func() {
			k.If(col.LT(width), func() { to.At64(dsl.MulWide[dsl.U64](row, width)).Store(col, x) })
		})
	}
}

// sizes declares the size parameters of the kernels that copy.
func sizes(k *dsl.Kernel) (rows, cols, height, width dsl.Reg[dsl.U32]) {
	return dsl.Param[dsl.U32](k, "rows"), dsl.Param[dsl.U32](k, "cols"),
		dsl.Param[dsl.U32](k, "height"), dsl.Param[dsl.U32](k, "width")
}

// load returns an element of a matrix of rows x cols elements, or zero if the position is outside
// of the matrix.
func load[T dsl.Scalar](from dsl.Array[T], row, col, rows, cols dsl.Reg[dsl.U32]) dsl.Reg[T] {
	zero := dsl.Const[T](row.Kernel(), 0)
	x := from.At64(dsl.MulWide[dsl.U64](row.Min(rows.SubI(1)), cols)).Load(col.Min(cols.SubI(1)),
		dsl.NC)
	return dsl.Select(col.LT(cols), dsl.Select(row.LT(rows), x, zero), zero)
}

// buildFinish adds a kernel that computes D = alpha * X + beta * D with type C, where D has rows
// x cols elements and the rows of X have width elements. If old is not set, D is not read.
func buildFinish[X, C, D dsl.Scalar](m *dsl.Module, old bool) {
	k := m.Kernel("finish", dsl.Threads(side, lines))
	d, x := dsl.Global[D](k, "d"), dsl.Global[X](k, "x")
	alpha, beta := dsl.Param[C](k, "alpha"), dsl.Param[C](k, "beta")
	rows, cols, width := dsl.Param[dsl.U32](k, "rows"), dsl.Param[dsl.U32](k, "cols"),
		dsl.Param[dsl.U32](k, "width")
	each(k, rows, cols, func(row, col dsl.Reg[dsl.U32]) {
		to := d.At64(dsl.MulWide[dsl.U64](row, cols))
		sum := convert[C](x.At64(dsl.MulWide[dsl.U64](row, width)).Load(col, dsl.NC)).Mul(alpha)
		if old {
			sum = convert[C](to.Load(col)).FMA(beta, sum)
		}
		to.Store(col, convert[D](sum))
	})
}

// convert is dsl.To, but emits no instruction if the two types are equal.
func convert[D, S dsl.Scalar](x dsl.Reg[S]) dsl.Reg[D] {
	if same, ok := any(x).(dsl.Reg[D]); ok {
		return same
	}
	return dsl.To[D](x)
}

// each calls body with the position of an element. The emitted code visits all elements of a
// matrix; each block visits one tile.
func each(k *dsl.Kernel, rows, cols dsl.Reg[dsl.U32], body func(row, col dsl.Reg[dsl.U32])) {
	at := k.BlockTile(rows.CeilDiv(side), cols.CeilDiv(side), group)
	col := at.Col.MulI(side).Add(k.TID().X)
	k.If(col.LT(cols), func() {
		for j := int64(0); j < side; j += lines {
			row := at.Row.MulI(side).Add(k.TID().Y.AddI(j))
			k.If(row.LT(rows), func() { body(row, col) })
		}
	})
}
