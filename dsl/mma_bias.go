// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

// MapPairs replaces the elements as Map does, but two adjacent columns at a time: x is the
// element at c, y the element in the next column. The function can therefore load values per
// column as vectors.
func (w *WarpTile[C]) MapPairs(f func(c Cell, x, y Reg[C]) (Reg[C], Reg[C])) {
	if !checkCreated(w.kernel(), "accumulator in MapPairs") ||
		!w.k.checkFunctions("MapPairs", f != nil) {
		return
	}
	w.visit(func(c Cell, cell []Reg[C], n int) {
		x, y := w.pair(cell, n)
		u, v := f(c, x, y)
		w.put(cell, n, u, v)
	})
}

// AddBias adds an element of bias to each column: the element at index col to column 0 of the
// tile, and so on. Each lane loads two adjacent elements at once, and uses them for all of its
// rows. The pointer must be aligned to two elements, and col must be even.
func (w *WarpTile[C]) AddBias(bias Array[C], col Reg[U32]) {
	if !checkCreated(w.kernel(), "accumulator in AddBias", bias.at.k, col.k) {
		return
	}
	row := newBiasRow(w.k, bias, col)
	w.MapPairs(func(c Cell, x, y Reg[C]) (Reg[C], Reg[C]) {
		b := row.pair(c)
		return x.Add(b[0]), y.Add(b[1])
	})
}

// MapPairs replaces the elements as Map does, but two adjacent columns at a time; see
// [WarpTile.MapPairs].
func (a *Accumulator) MapPairs(f func(c Cell, x, y Reg[F32]) (Reg[F32], Reg[F32])) {
	if !checkCreated(a.kernel(), "accumulator in MapPairs") ||
		!a.k.checkFunctions("MapPairs", f != nil) {
		return
	}
	a.visit("MapPairs", func(c Cell, regs []*ir.Reg) {
		x, y := a.sum(regs[0]), a.sum(regs[1])
		u, v := f(c, x, y)
		assign(x, u)
		assign(y, v)
	})
}

// AddBias adds an element of bias to each column; see [WarpTile.AddBias].
func (a *Accumulator) AddBias(bias Array[F32], col Reg[U32]) {
	if !checkCreated(a.kernel(), "accumulator in AddBias", bias.at.k, col.k) {
		return
	}
	row := newBiasRow(a.k, bias, col)
	a.MapPairs(func(c Cell, x, y Reg[F32]) (Reg[F32], Reg[F32]) {
		b := row.pair(c)
		return x.Add(b[0]), y.Add(b[1])
	})
}

// MapColumns replaces the elements as MapPairs does. v has the elements of values for the two
// columns; the element for column 0 of the tile has the index col. Each thread loads two adjacent
// values at once, and uses them for all of its rows. The pointer must be aligned to two elements,
// and col must be even.
func (a *Accumulator) MapColumns(values Array[F32], col Reg[U32],
	f func(c Cell, x, y Reg[F32], v []Reg[F32]) (Reg[F32], Reg[F32])) {
	if !checkCreated(a.kernel(), "accumulator in MapColumns", values.at.k, col.k) ||
		!a.k.checkFunctions("MapColumns", f != nil) {
		return
	}
	row := newBiasRow(a.k, values, col)
	a.MapPairs(func(c Cell, x, y Reg[F32]) (Reg[F32], Reg[F32]) {
		return f(c, x, y, row.pair(c))
	})
}

// A biasRow loads the elements of a bias that belong to the lane's columns, each pair once.
type biasRow[T Scalar] struct {
	from  Array[T] // starts at the lane's first column
	pairs map[int][]Reg[T]
}

func newBiasRow[T Scalar](k *Kernel, bias Array[T], col Reg[U32]) biasRow[T] {
	first := Cell{lane: k.Lane()}.Col()
	return biasRow[T]{from: bias.At(col.Add(first)), pairs: make(map[int][]Reg[T])}
}

// pair returns the bias elements for the column of c and the next one.
func (b biasRow[T]) pair(c Cell) []Reg[T] {
	if b.pairs[c.col] == nil {
		b.pairs[c.col] = b.from.AtI(int64(c.col)).LoadFirstVec(2)
	}
	return b.pairs[c.col]
}
