// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Fragments hold the A operand of mma.sync or wgmma in registers: rows of a matrix that were
// loaded from shared memory once and are used repeatedly, or the result of one MMA as an operand
// of the next.
type Fragments struct {
	k    *Kernel
	typ  isa.Type
	rows int
	cols int
	each int            // number of columns per step
	regs [][][]Reg[B32] // indexed by step, then by group of sixteen rows
}

// LoadFragments loads the rows of x for which the accumulator has rows, starting at row from.
// Pass the result to MMAFragments.
func (w *WarpTile[C]) LoadFragments(x SharedTile, from Reg[U32]) *Fragments {
	if !checkCreated(w.kernel(), "accumulator in LoadFragments", x.at.k) {
		return &Fragments{}
	}
	k, s := w.k, w.shape
	k.annotateWarpOperation("LoadFragments")
	rows, depth := x.operandShape()
	f := &Fragments{k: k, typ: s.A, rows: w.rows, cols: depth, each: s.K}
	switch {
	case x.at.k == nil:
		k.fault(&ruleValue, "tile of LoadFragments is a zero value, not created by a builder call")
		return f
	case s.Sparse || s.Split || s.isScaled() || s.A == isa.F64:
		k.fault(&ruleShape,
			"LoadFragments does not support MMA shape %s of %s; use MMA", s, s.A)
		return f
	case !s.accepts(x.Tile, s.A) || depth%s.K != 0 || rows < w.rows:
		k.fault(&ruleShape,
			"A operand %s does not fit %s %s, expected %d rows and a multiple of %d columns", x, s,
			s.A, w.rows, s.K)
		return f
	case !x.checkTransposable():
		return f
	}
	if !checkRows(k, x, from, w.rows) {
		return f
	}
	k.annotateProduct(x.operandSide(from, w.rows), ir.Side{})
	x.cover = nil
	read := x.fragments(x.leftCorner(s.K), from, s.K)
	for step := range depth / s.K {
		var line [][]Reg[B32]
		for i, cell := range w.newFragmentsA() {
			read(step)(i*s.M, cell)
			line = append(line, values(k, cell))
		}
		f.regs = append(f.regs, line)
	}
	return f
}

// Set copies the registers of x, which must have the same shape and type, to those of f. It
// carries fragments from one loop iteration to the next.
func (f *Fragments) Set(x *Fragments) {
	if f == nil || f.k == nil {
		return
	}
	switch {
	case x == nil || x.k == nil:
		f.k.fault(&ruleValue, "fragments in Set are a zero value, not created by a builder call")
		return
	case x.k != f.k:
		f.k.fault(&ruleForeign, "fragments of kernel %s are used in %s", x.k.Name(), f.k.Name())
		return
	case x.typ != f.typ || x.rows != f.rows || x.cols != f.cols || x.each != f.each ||
		!sameShape(x.regs, f.regs):
		f.k.fault(&ruleShape,
			"Fragments of %dx%d %s are assigned fragments of %dx%d %s, or warp and warpgroup fragments are mixed",
			f.rows, f.cols, f.typ, x.rows, x.cols, x.typ)
		return
	}
	for i, step := range f.regs {
		for j, cell := range step {
			for n, r := range cell {
				assign(r, x.regs[i][j][n])
			}
		}
	}
}

// sameShape reports whether two lists of fragments have the same number of registers at every
// position.
func sameShape(a, b [][][]Reg[B32]) bool {
	return slices.EqualFunc(a, b, func(a, b [][]Reg[B32]) bool {
		return slices.EqualFunc(a, b, func(a, b []Reg[B32]) bool { return len(a) == len(b) })
	})
}

// values returns the registers in cell as values that are defined in the current scope.
func values(k *Kernel, cell []ir.Operand) []Reg[B32] {
	list := make([]Reg[B32], len(cell))
	for i, o := range cell {
		list[i] = Reg[B32]{k: k, r: o.Reg, scope: k.scope()}
	}
	return list
}

// ToFragments returns the elements, converted to the 16-bit type t, as the A operand of another
// MMA. Each lane already holds the elements that it needs, so no data moves between lanes.
func (w *WarpTile[C]) ToFragments(t isa.Type) *Fragments {
	if !checkCreated(w.kernel(), "accumulator in ToFragments") {
		return &Fragments{}
	}
	k, s := w.k, w.shape
	f := &Fragments{k: k, typ: t, rows: w.rows, cols: w.cols, each: 16}
	if t != isa.F16 && t != isa.Bf16 || s.C != isa.F32 && s.C != t || s.M != 16 || s.N != 8 {
		k.fault(&ruleShape,
			"accumulator of %s with shape %s cannot become an A operand of %s; .f32 converts to .f16 or .bf16, and .f16 stays .f16",
			s.C, s, t)
		return f
	}
	pair := "cvt.rn" + packedPair(t).String() + ".f32"
	for j := 0; j < w.cols/s.N; j += 2 {
		var step [][]Reg[B32]
		for _, line := range w.regs {
			var cell []Reg[B32]
			for _, part := range line[j : j+2] {
				// already packed in pairs; copied, because the next MMA must not modify the
				// accumulator
				if s.C == t {
					cell = append(cell, copyRegister(k, part[0]), copyRegister(k, part[1]))
					continue
				}
				for h := 0; h < 4; h += 2 {
					d := fresh[B32](k)
					k.ins(pair, d.in(k), part[h+1].in(k), part[h].in(k))
					cell = append(cell, d)
				}
			}
			step = append(step, cell)
		}
		f.regs = append(f.regs, step)
	}
	return f
}

// copyRegister returns a copy of a 32-bit register.
func copyRegister[T Scalar](k *Kernel, x Reg[T]) Reg[B32] {
	d := fresh[B32](k)
	k.ins("mov.b32", d.in(k), x.in(k))
	return d
}

// MMAFragments adds the product of an A operand in registers and the transpose of rows of y,
// starting at fromY. The rows of y must be as long as those of the fragments.
func (w *WarpTile[C]) MMAFragments(x *Fragments, y SharedTile, fromY Reg[U32]) {
	if !checkCreated(w.kernel(), "accumulator in MMAFragments", y.at.k) {
		return
	}
	k, s := w.k, w.shape
	k.annotateWarpOperation("MMAFragments")
	rows, depth := y.operandShape()
	switch {
	case x == nil || x.k == nil || y.at.k == nil:
		k.fault(&ruleValue,
			"fragments in MMAFragments are a zero value, not created by a builder call")
	case x.k != k:
		k.fault(&ruleForeign, "fragments of kernel %s are used in %s", x.k.Name(), k.Name())
	case s.Sparse || s.Split || s.isScaled() || !isCompatible(x.typ, s.A) || x.each != s.K ||
		!s.accepts(y.Tile, s.B):
		k.fault(&ruleShape,
			"operands of MMAFragments, %s and %s, do not match shape %s of %s: the element types differ",
			x.typ, y.Tile, s, s.A)
	case x.rows != w.rows || x.cols != depth || rows < w.cols:
		k.fault(&ruleShape,
			"operands of MMAFragments, %dx%d %s and %s, do not fit an accumulator of %dx%d: they differ in K, or B has too few rows",
			x.rows, x.cols, x.typ, y, w.rows, w.cols)
	case len(x.regs) == 0 || !y.checkTransposable() || !checkRows(k, y, fromY, w.cols):
		// the problem has been reported
	default:
		k.annotateProduct(ir.Side{}, y.operandSide(fromY, w.cols))
		y.cover = nil
		read := y.fragments(y.rightCorner(s.K), fromY, s.K)
		for step, line := range x.regs {
			fa := make([][]ir.Operand, len(line))
			for i, cell := range line {
				for _, r := range cell {
					fa[i] = append(fa[i], r.in(k))
				}
			}
			fb := w.newFragmentsB()
			w.loadB(read(step), fb)
			w.multiply(fa, fb, noOperands)
		}
	}
}

// A corner is the position of the 16 bytes whose address a lane passes to ldmatrix: a row, and
// the 16-byte unit in the row.
type corner struct{ row, unit Reg[U32] }

// rowsFirst orders the four matrices of ldmatrix by rows first: sixteen rows of one 16-byte unit,
// then sixteen rows of the next unit.
func rowsFirst(lane Reg[U32]) corner { return corner{lane.AndI(15), lane.ShrI(4)} }

// columnsFirst orders the four matrices of ldmatrix by columns first: eight rows of one 16-byte
// unit, the same rows of the next unit, then the next eight rows.
func columnsFirst(lane Reg[U32]) corner {
	return corner{lane.AndI(7).Add(lane.ShrI(4).ShlI(3)), lane.ShrI(3).AndI(1)}
}

// leftCorner returns the position that a lane passes to ldmatrix for the A operand, for steps of
// depth elements along K. The A operand orders its matrices by rows first, the B operand by
// columns first. A transposed tile swaps the two orders.
func (t SharedTile) leftCorner(depth int) corner {
	lane := t.at.k.Lane()
	switch {
	case t.halfDepth(depth):
		return t.halfCorner(lane)
	case t.isTransposed:
		return columnsFirst(lane)
	}
	return rowsFirst(lane)
}

func (t SharedTile) rightCorner(depth int) corner {
	lane := t.at.k.Lane()
	switch {
	case t.halfDepth(depth):
		return t.halfCorner(lane)
	case t.isTransposed:
		return rowsFirst(lane)
	}
	return columnsFirst(lane)
}

// halfDepth reports whether a step of depth elements consists of 16 bytes instead of 32, so that
// ldmatrix loads two matrices instead of four.
func (t SharedTile) halfDepth(depth int) bool { return depth*t.elementBits() == 128 }

// halfCorner returns the position that a lane passes to ldmatrix for the two matrices of a
// 16-byte step. The matrices cover sixteen rows, or in a transposed tile two adjacent 16-byte
// units of eight rows.
func (t SharedTile) halfCorner(lane Reg[U32]) corner {
	if t.isTransposed {
		return corner{lane.AndI(7), lane.ShrI(3).AndI(1)}
	}
	return corner{lane.AndI(15), t.at.k.U32(0)}
}

// fragments returns a function that takes a step along K and returns a function that loads the
// fragments of the step: two or four matrices at a row offset from row from.
func (t SharedTile) fragments(c corner, from Reg[U32], depth int) func(step int) func(row int,
	into []ir.Operand) {
	k := t.at.k
	if !t.isTransposed {
		r := t.reader(from.Add(c.row), c.unit)
		return func(step int) func(int, []ir.Operand) {
			at := r.at(step * depth * t.elementBits() / 8)
			return func(row int, into []ir.Operand) {
				t.fragment(into, at.Plus(int64(row*t.Pitch())))
			}
		}
	}
	r := t.reader(c.row, c.unit)
	first, more := int(from.bits)*2, Reg[U32]{}
	if !from.IsConstant() {
		first, more = 0, from.ShlI(1)
	}
	return func(step int) func(int, []ir.Operand) {
		return func(row int, into []ir.Operand) {
			at := r.at
			if more.k != nil {
				at = func(bytes int) Addr { return r.atOffset(more, bytes) }
			}
			k.ldmatrix(into, at(first+2*row).Plus(int64(step*depth*t.Pitch())), Trans)
		}
	}
}

// loadA loads the A fragments of a step, one for each M rows of the accumulator.
func (w *WarpTile[C]) loadA(read func(row int, into []ir.Operand), list [][]ir.Operand) {
	for i, f := range list {
		read(i*w.shape.M, f)
	}
}

// loadB loads the B fragments of a step, one for each N columns of the accumulator. One ldmatrix
// loads two fragments.
func (w *WarpTile[C]) loadB(read func(row int, into []ir.Operand), list [][]ir.Operand) {
	for j := 0; j < len(list); j += 2 {
		read(j*w.shape.N, slices.Concat(list[j], list[j+1]))
	}
}

// Transposed returns the tile as a transposed MMA operand, with rows and columns exchanged. The
// data in memory does not change. The elements must have 16 bits, since ldmatrix transposes no
// others. MMA and MMAStep also take elements of 32 and 64 bits, if the tile has no swizzle, and
// load them one by one.
func (t SharedTile) Transposed() SharedTile {
	t.isTransposed = !t.isTransposed
	return t
}

// operandShape returns the number of rows and columns of the tile as an MMA operand.
func (t SharedTile) operandShape() (rows, cols int) {
	if t.isTransposed {
		return t.Cols, t.Rows
	}
	return t.Rows, t.Cols
}

// loadsByElement reports whether the tile is transposed and its elements are too wide for
// ldmatrix, which only transposes 16-bit elements.
func (t SharedTile) loadsByElement() bool {
	return t.isTransposed && t.Swizzle == NoSwizzle && (t.Type.Bits() == 32 || t.Type.Bits() == 64)
}

// checkTransposable reports whether ldmatrix can read the tile with its transposition, and
// records a finding if not.
func (t SharedTile) checkTransposable() bool {
	if t.isTransposed && t.Type.Bits() != 16 {
		t.at.k.fault(&ruleShape,
			"%s cannot be transposed, since ldmatrix transposes only 16-bit elements; MMAStep transposes .f64 and 32-bit tiles without a swizzle",
			t.Tile)
		return false
	}
	return true
}

// String returns a description of the tile for messages, such as "128x64 .bf16 with a swizzle of
// 128 bytes, transposed".
func (t SharedTile) String() string {
	if t.isTransposed {
		return t.Tile.String() + ", transposed"
	}
	return t.Tile.String()
}

// A tileReader is the position at which a lane reads a tile: the address of a row, and the
// swizzled byte offset in the row.
type tileReader struct {
	t    SharedTile
	row  Addr
	unit Reg[U32] // byte offset of a 16-byte unit; offsets in the row are XORed into it
}

// reader returns the position of a lane in the tile: a row, and a unit of 16 bytes.
func (t SharedTile) reader(row, unit Reg[U32]) tileReader {
	off := row.MulI(int64(t.Pitch()))
	r := tileReader{t: t, row: t.Addr().add(off), unit: unit.ShlI(4)}
	if mask := t.Swizzle.mask(); mask != 0 {
		r.unit = r.unit.Xor(off.ShrI(3).AndI(int64(mask)))
	}
	return r
}

// at returns the address that is bytes further in the row. bytes must be a multiple of 32, or of
// 16 if the unit is the first of the row.
func (r tileReader) at(bytes int) Addr {
	t := r.t
	if t.Swizzle == NoSwizzle {
		return r.row.add(r.unit).Plus(int64(bytes))
	}
	slab, in := bytes/int(t.Swizzle), bytes%int(t.Swizzle)
	return r.row.Plus(int64(slab * t.SlabBytes())).add(r.unit.XorI(int64(in)))
}

// atOffset returns the address at a constant offset in the row, as at does, plus an offset in
// bytes that the kernel computes, a multiple of 32.
func (r tileReader) atOffset(more Reg[U32], bytes int) Addr {
	if r.t.Swizzle == NoSwizzle {
		return r.row.add(r.unit).add(more).Plus(int64(bytes))
	}
	row, in := r.row, more.AddI(int64(bytes))
	if n := int64(r.t.Swizzle); r.t.Slabs() > 1 {
		row, in = row.add(in.DivI(n).MulI(int64(r.t.SlabBytes()))), in.RemI(n)
	}
	return row.add(r.unit.Xor(in))
}
