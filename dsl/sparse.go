// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// SparseMMAFor is the shape that multiplies a matrix A of which two of four neighbours in a row are zero (PTX ISA 9.1, section 9.7.14.6). Of
// numbers of 4 bits neighbours are pairs, of which two of four are zero; of TF32 they are halves of numbers, that is, one of two numbers is
// zero. Its K counts the columns of A with the zeros.
func SparseMMAFor(t, sums isa.Type) MMA {
	s := MMAFor(t, sums)
	s.K *= 2
	s.Sparse = true
	return s
}

// unit is the bits of what the places of zeros are told for.
func (s MMA) unit() int {
	if s.A.Bits() > 8 {
		return 16
	}
	return 8
}

// units is how many of them so many numbers are.
func (s MMA) units(numbers int) int { return numbers * s.A.Bits() / s.unit() }

// MMASparse adds the product of rows of x, from a row on, and the transpose of rows of y, from a row on. The tiles of y lie side by side;
// x has half their columns, since of each four neighbours it holds two. Which these are is in meta, a bit for each neighbour: for
// every four, the places of the two, two bits each, the first in the lowest.
func (w *WarpTile[C]) MMASparse(x SharedTile, fromX Reg[U32], meta SharedTile, y []SharedTile, fromY Reg[U32]) {
	if !made(w.kernel(), "MMASparse", x.at.k, meta.at.k) {
		return
	}
	k, s := w.k, w.shape
	if !w.sparse(x, meta, y) {
		return
	}
	lane := k.Lane()
	a := x.reader(fromX.Add(lane.AndI(15)), lane.ShrI(4))
	b := make([]tileReader, len(y))
	for i, t := range y {
		b[i] = t.reader(fromY.Add(lane.AndI(7)), lane.ShrI(3))
	}
	told := w.teller(meta, fromX)
	perTile := y[0].RowBytes() / 64
	var places []ir.Operand
	for step := range x.RowBytes() / 32 {
		col := s.units(step * s.K)
		if col%64 == 0 {
			places = told(col / 8)
		}
		atA, atB := a.at(step*32), b[step/perTile].at(step%perTile*64)
		var fa, fb [][]ir.Operand
		for i := range w.regs {
			fa = append(fa, k.cell(4, isa.B32))
			k.ldmatrix(fa[i], atA.Plus(int64(i*s.M*x.Pitch())))
		}
		for j := 0; j < w.cols; j += s.N {
			cell := k.cell(4, isa.B32)
			k.ldmatrix(cell, atB.Plus(int64(j*y[0].Pitch())))
			fb = append(fb, cell)
		}
		w.multiply(fa, fb, func(i int) []ir.Operand { return []ir.Operand{places[i], number(int64(col % 64 / 32))} })
	}
}

// sparse reports what is wrong with the tiles of MMASparse.
func (w *WarpTile[C]) sparse(x, meta SharedTile, y []SharedTile) bool {
	k, s := w.k, w.shape
	if x.at.k == nil || meta.at.k == nil || len(y) == 0 {
		k.fault(&ruleValue, "MMASparse of a tile that no builder call made")
		return false
	}
	cols := 0
	for _, t := range y {
		if t.at.k == nil || t.Tile != y[0].Tile {
			k.fault(&ruleShape, "MMASparse of tiles %s and %s side by side; tiles of one shape are expected", y[0].Tile, t.Tile)
			return false
		}
		cols += t.Cols
	}
	switch {
	case s.Split || s.A.Bits() != 4 && s.A.Bits() != 8 && s.A.Bits() != 16 && s.A != isa.Tf32:
		k.fault(&ruleShape, "MMASparse of %s, of which the tensor cores leave no zeros out; .tf32 and types of 4, 8 and 16 bits are expected", s)
	case !s.Sparse:
		k.fault(&ruleShape, "MMASparse with %s of %s, which takes no zeros; SparseMMAFor gives a shape that does", s, s.A)
	case x.Type.Bits() != s.A.Bits() || y[0].Type.Bits() != s.B.Bits():
		k.fault(&ruleShape, "MMASparse of %s and %s with %s of %s: the element types differ", x.Tile, y[0].Tile, s, s.A)
	case cols != 2*x.Cols || y[0].RowBytes()%64 != 0 || s.units(cols)%64 != 0 || x.Rows < w.rows || y[0].Rows < w.cols:
		k.fault(&ruleShape, "MMASparse of %s and %d tiles of %s into %dx%d: half as many columns as those together, whose rows have a multiple of 64 bytes, and at least so many rows are expected", x.Tile, len(y), y[0].Tile, w.rows, w.cols)
	case x.Slabs() > 1 || y[0].Slabs() > 1:
		k.fault(&ruleShape, "MMASparse of %s and %s: tiles no wider than their swizzle are expected", x.Tile, y[0].Tile)
	case meta.RowBytes() != s.units(cols)/8 || meta.Rows != x.Rows || meta.Swizzle != NoSwizzle:
		k.fault(&ruleShape, "MMASparse told by %s where the zeros are; %d rows of %d bytes without a swizzle are expected", meta.Tile, x.Rows, s.units(cols)/8)
	default:
		return true
	}
	return false
}

// teller gives the registers that tell the zeros of 64 units, which begin so many bytes further on in the rows of meta: one for
// each M rows of the tile. Four lanes share two rows, eight apart, and the 64 units, which are two steps of 16-bit units and one of
// 8-bit units. Of 16-bit units a lane tells 16 of both rows, in the halves of its register; of 8-bit units the even lanes tell the
// upper row, the odd ones the lower, 32 each.
func (w *WarpTile[C]) teller(meta SharedTile, from Reg[U32]) func(bytes int) []ir.Operand {
	k := w.k
	lane := k.Lane()
	row := from.Add(lane.ShrI(2))
	load := func(at Addr, t isa.Type) ir.Operand {
		r := ir.Operand{Kind: ir.Register, Ref: k.newReg(t)}
		k.ins("ld.shared"+t.String(), r, k.arg(at))
		return r
	}
	if w.shape.unit() == 8 {
		row = row.Add(lane.AndI(1).ShlI(3))
		at := meta.at.add(row.MulI(int64(meta.Pitch())).Add(lane.AndI(2).ShlI(1)))
		return func(bytes int) (list []ir.Operand) {
			for i := range w.regs {
				list = append(list, load(at.Plus(int64(bytes+i*w.shape.M*meta.Pitch())), isa.B32))
			}
			return list
		}
	}
	at := meta.at.add(row.MulI(int64(meta.Pitch())).Add(lane.AndI(3).ShlI(1)))
	return func(bytes int) (list []ir.Operand) {
		for i := range w.regs {
			upper := at.Plus(int64(bytes + i*w.shape.M*meta.Pitch()))
			e := ir.Operand{Kind: ir.Register, Ref: k.newReg(isa.B32)}
			k.ins("mov.b32", e, k.vector(load(upper, isa.B16), load(upper.Plus(int64(8*meta.Pitch())), isa.B16)))
			list = append(list, e)
		}
		return list
	}
}
