// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// Origin returns the first row and column of a warp's tile within the tile of the block. The
// warps of the block form a grid in row-major order, with across warps per row.
func (w *WarpTile[C]) Origin(warp Reg[U32], across int) (row, col Reg[U32]) {
	if !checkCreated(w.kernel(), "accumulator in Origin", warp.k) {
		return Reg[U32]{}, Reg[U32]{}
	}
	if across < 1 {
		w.k.fault(&ruleShape, "number of warps along the columns is %d, expected a positive number",
			across)
		across = 1
	}
	return warp.DivI(int64(across)).MulI(int64(w.rows)),
		warp.RemI(int64(across)).MulI(int64(w.cols))
}

// pairs returns how many pairs of adjacent elements a lane holds of M rows and N columns.
func (w *WarpTile[C]) pairs() int { return w.shape.M * w.shape.N / 64 }

// pair returns the n-th pair of adjacent elements of a cell.
func (w *WarpTile[C]) pair(cell []Reg[C], n int) (x, y Reg[C]) {
	if w.shape.C == isa.F16 {
		return Unpack[C](Reg[B32]{k: w.k, r: cell[n].r, scope: cell[n].scope})
	}
	return cell[2*n], cell[2*n+1]
}

// Each calls visit for the elements of the lane, two adjacent columns at a time: x is the element
// at row and col of the warp's tile, y the element in the next column. The values are the
// accumulator registers themselves, which later MMAs modify; use Var to copy one.
func (w *WarpTile[C]) Each(visit func(row, col Reg[U32], x, y Reg[C])) {
	if !checkCreated(w.kernel(), "accumulator in Each") {
		return
	}
	k, s := w.k, w.shape
	if !k.checkFunctions("Each", visit != nil) {
		return
	}
	lane := k.Lane()
	row, col := lane.ShrI(2), lane.AndI(3).ShlI(1)
	cols := make([]Reg[U32], w.cols/s.N)
	for j := range cols {
		cols[j] = col.AddI(int64(j * s.N))
	}
	for i, line := range w.regs {
		rows := make([]Reg[U32], w.pairs())
		for h := range rows {
			rows[h] = row.AddI(int64(i*s.M + h*8))
		}
		for j, cell := range line {
			for h, r := range rows {
				x, y := w.pair(cell, h)
				visit(r, cols[j], x, y)
			}
		}
	}
}

// A Cell is the position of an element in a WarpTile or an Accumulator.
type Cell struct {
	LocalRow int // index among the rows of which the lane holds elements; see LocalRows
	lane     Reg[U32]
	// warp of a warpgroup, in which each warp has sixteen rows; unset if one warp has the whole
	// tile
	warp     Reg[U32]
	row, col int // position of the corresponding element of lane 0
}

// Row returns the row of the element within the tile.
func (c Cell) Row() Reg[U32] {
	row := c.lane.ShrI(2).AddI(int64(c.row))
	if c.warp.k != nil {
		row = c.warp.AndI(3).MadI(16, row)
	}
	return row
}

// Col returns the column of the element within the tile.
func (c Cell) Col() Reg[U32] { return c.lane.AndI(3).ShlI(1).AddI(int64(c.col)) }

// LocalRows returns the number of rows of which a lane holds elements. Four lanes share each row.
func (w *WarpTile[C]) LocalRows() int {
	if w == nil {
		return 0
	}
	return w.rows / 8
}

// Row returns the row of the tile for one of the lane's LocalRows. Call it before Map to load
// values per row once.
func (w *WarpTile[C]) Row(line int) Reg[U32] {
	if !checkCreated(w.kernel(), "accumulator in Row") || !w.k.checkLocalRow(line, w.LocalRows()) {
		return Reg[U32]{}
	}
	return Cell{lane: w.k.Lane(), row: line/w.pairs()*w.shape.M + line%w.pairs()*8}.Row()
}

// checkLocalRow reports whether line is a valid index of a local row, and records a finding if
// not.
func (k *Kernel) checkLocalRow(line, lines int) bool {
	if line < 0 || line >= lines {
		k.fault(&ruleShape, "local row %d is out of bounds: a lane has %d rows", line, lines)
		return false
	}
	return true
}

// visit calls do for each pair of adjacent elements of the lane, the n-th pair of its cell.
func (w *WarpTile[C]) visit(do func(c Cell, cell []Reg[C], n int)) {
	lane := w.k.Lane()
	for i, line := range w.regs {
		for j, cell := range line {
			for h := range w.pairs() {
				do(Cell{LocalRow: i*w.pairs() + h, lane: lane, row: i*w.shape.M + h*8,
					col: j * w.shape.N}, cell, h)
			}
		}
	}
}

// Map replaces each element with the result of f, such as a scale, an activation, a mask or a
// bias. f is called for the elements of a lane. Its argument is the accumulator register itself,
// which holds the result after Map; use Var to keep the old value. For a bias per column use
// AddBias.
func (w *WarpTile[C]) Map(f func(c Cell, x Reg[C]) Reg[C]) {
	if !checkCreated(w.kernel(), "accumulator in Map") {
		return
	}
	k := w.k
	if !k.checkFunctions("Map", f != nil) {
		return
	}
	w.visit(func(c Cell, cell []Reg[C], n int) {
		x, y := w.pair(cell, n)
		next := c
		next.col++
		w.put(cell, n, f(c, x), f(next, y))
	})
}

// put replaces the n-th pair of adjacent elements of a cell.
func (w *WarpTile[C]) put(cell []Reg[C], n int, x, y Reg[C]) {
	if w.shape.C == isa.F16 {
		w.k.ins("mov.b32", cell[n].in(w.k), w.k.vector(x.register().in(w.k), y.register().in(w.k)))
		return
	}
	assign(cell[2*n], x)
	assign(cell[2*n+1], y)
}

// RowReduce combines the elements of each row. It returns one result for each of the LocalRows,
// the same in the four lanes that share the row.
func (w *WarpTile[C]) RowReduce(combine func(a, b Reg[C]) Reg[C]) []Reg[C] {
	if !checkCreated(w.kernel(), "accumulator in RowReduce") {
		return nil
	}
	all := make([]Reg[C], w.LocalRows())
	if !w.k.checkFunctions("RowReduce", combine != nil) {
		return all
	}
	w.visit(func(c Cell, cell []Reg[C], n int) {
		x, y := w.pair(cell, n)
		combineRow(all, c.LocalRow, x, y, combine)
	})
	for i, x := range all {
		all[i] = w.QuadReduce(x, combine).snapshot() // combine may return its argument
	}
	return all
}

// QuadReduce combines x over the four lanes that share a row, and returns the result in all four.
func (w *WarpTile[C]) QuadReduce(x Reg[C], combine func(a, b Reg[C]) Reg[C]) Reg[C] {
	if !checkCreated(w.kernel(), "accumulator in QuadReduce", x.k) {
		return x
	}
	if !w.k.checkFunctions("QuadReduce", combine != nil) {
		return x
	}
	return acrossRow(x, combine)
}

// combineRow combines two adjacent elements with the partial result of their row.
func combineRow[T Scalar](all []Reg[T], line int, x, y Reg[T], combine func(a, b Reg[T]) Reg[T]) {
	both := combine(x, y)
	if all[line].k != nil {
		both = combine(all[line], both)
	}
	all[line] = both
}

func acrossRow[T Scalar](x Reg[T], combine func(a, b Reg[T]) Reg[T]) Reg[T] {
	for _, mask := range []int64{1, 2} {
		x = combine(x, x.ShuffleXor(mask))
	}
	return x
}
