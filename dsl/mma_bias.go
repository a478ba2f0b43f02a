// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

// MapPairs is Map for two adjacent columns at a time: x is at the position of the cell, y in the
// next column. It lets the kernel load values per column as vectors.
func (w *WarpTile[C]) MapPairs(f func(c Cell, x, y Reg[C]) (Reg[C], Reg[C])) {
	if !made(w.kernel(), "accumulator in MapPairs") || !w.k.runs("MapPairs", f != nil) {
		return
	}
	w.visit(func(c Cell, cell []Reg[C], n int) {
		x, y := w.pair(cell, n)
		u, v := f(c, x, y)
		w.put(cell, n, u, v)
	})
}

// AddBias adds an element of bias to each column: the element at col to column 0 of the tile. Each
// lane loads two adjacent elements at once, and each only once for all rows. The pointer must be
// aligned to two elements, and col must be even.
func (w *WarpTile[C]) AddBias(bias Array[C], col Reg[U32]) {
	if !made(w.kernel(), "accumulator in AddBias", bias.at.k, col.k) {
		return
	}
	row := newBiasRow(w.k, bias, col)
	w.MapPairs(func(c Cell, x, y Reg[C]) (Reg[C], Reg[C]) {
		b := row.pair(c)
		return x.Add(b[0]), y.Add(b[1])
	})
}

// MapPairs is Map for two adjacent columns at a time, as [WarpTile.MapPairs].
func (a *Accumulator) MapPairs(f func(c Cell, x, y Reg[F32]) (Reg[F32], Reg[F32])) {
	if !made(a.kernel(), "accumulator in MapPairs") || !a.k.runs("MapPairs", f != nil) {
		return
	}
	a.visit("MapPairs", func(c Cell, regs []*ir.Reg) {
		x, y := a.sum(regs[0]), a.sum(regs[1])
		u, v := f(c, x, y)
		assign(x, u)
		assign(y, v)
	})
}

// AddBias adds an element of bias to each column, as [WarpTile.AddBias].
func (a *Accumulator) AddBias(bias Array[F32], col Reg[U32]) {
	if !made(a.kernel(), "accumulator in AddBias", bias.at.k, col.k) {
		return
	}
	row := newBiasRow(a.k, bias, col)
	a.MapPairs(func(c Cell, x, y Reg[F32]) (Reg[F32], Reg[F32]) {
		b := row.pair(c)
		return x.Add(b[0]), y.Add(b[1])
	})
}

// A biasRow loads the elements of a row that the lane's columns need.
type biasRow[T Scalar] struct {
	from  Array[T] // at the lane's first column
	pairs map[int][]Reg[T]
}

func newBiasRow[T Scalar](k *Kernel, bias Array[T], col Reg[U32]) biasRow[T] {
	first := Cell{lane: k.Lane()}.Col()
	return biasRow[T]{from: bias.At(col.Add(first)), pairs: make(map[int][]Reg[T])}
}

// pair returns the elements for the column of c and the next one.
func (b biasRow[T]) pair(c Cell) []Reg[T] {
	if b.pairs[c.col] == nil {
		b.pairs[c.col] = b.from.AtI(int64(c.col)).LoadFirstVec(2)
	}
	return b.pairs[c.col]
}
