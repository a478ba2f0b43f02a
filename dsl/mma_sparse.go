// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// SparseMMAFor returns the shape of mma.sync for a sparse A operand, in which two of each four
// adjacent elements in a row are zero (PTX ISA 9.1, section 9.7.14.6). For 4-bit elements two of
// four adjacent pairs are zero, for TF32 one of two elements. K counts the columns of A including
// the zeros.
func SparseMMAFor(t, sums isa.Type) MMA {
	s := MMAFor(t, sums)
	s.K *= 2
	s.Sparse = true
	return s
}

// unit returns the size in bits of the unit that sparsity metadata describes.
func (s MMA) unit() int {
	if s.A.Bits() > 8 {
		return 16
	}
	return 8
}

// units returns the number of units in the given number of elements.
func (s MMA) units(numbers int) int { return numbers * s.wide(s.A) / s.unit() }

// SparseMMA is MMA for a sparse A operand x, which stores two of each four adjacent elements in a
// row. The tiles of y are side by side and together have twice the columns of x. The tile meta
// holds the sparsity metadata: for every four elements the indices of the two stored ones, two bits
// each, the first in the lowest bits.
func (w *WarpTile[C]) SparseMMA(x SharedTile, fromX Reg[U32], meta SharedTile, y []SharedTile,
	fromY Reg[U32]) {
	if made(w.kernel(), "accumulator in SparseMMA", x.at.k, meta.at.k) {
		w.SparseMMAStep(x, fromX, meta, y, fromY).MMA()
	}
}

// SparseMMAStep returns what SparseMMA computes, for AsyncPipeline.Multiply.
func (w *WarpTile[C]) SparseMMAStep(x SharedTile, fromX Reg[U32], meta SharedTile, y []SharedTile,
	fromY Reg[U32]) MMAStep {
	if !made(w.kernel(), "accumulator in SparseMMAStep", x.at.k, meta.at.k) {
		return MMAStep{}
	}
	if !w.unscaled() || !w.sparse(x, meta, y) {
		return MMAStep{reported: true}
	}
	return w.spread(x, fromX, meta, y, fromY)
}

// spread returns the MMA step of two tiles whose shapes match, where the A tile is sparse.
func (w *WarpTile[C]) spread(x SharedTile, fromX Reg[U32], meta SharedTile, y []SharedTile,
	fromY Reg[U32]) MMAStep {
	k, s := w.k, w.shape
	lane := k.Lane()
	a := x.reader(fromX.Add(lane.AndI(15)), lane.ShrI(4))
	b := make([]tileReader, len(y))
	for i, t := range y {
		b[i] = t.reader(fromY.Add(lane.AndI(7)), lane.ShrI(3))
	}
	tell := w.metadataLoader(meta, fromX)
	// bytes of a row of B, and registers of A and of B, in a step: with half the depth, half as
	// many
	bytes := s.K * s.wide(s.B) / 8
	registers := bytes / 16
	perTile := y[0].RowBytes() / bytes
	m, n := w.rows/s.M, w.cols/s.N
	room := func(sparsity [][]ir.Operand) factors {
		return factors{a: k.cells(m, registers, isa.B32), b: k.cells(n, registers, isa.B32),
			sparsity: sparsity}
	}
	p := w.product(2 * x.RowBytes() / bytes)
	p.room = func() factors { return room(open(m, 2)) }
	p.kept = func() factors {
		sparsity := open(m, 2)
		for i, cell := range k.cells(m, 1, isa.B32) {
			sparsity[i][0] = cell[0]
		}
		return room(sparsity)
	}
	p.read = func(step int, before, into factors) {
		atA, atB := a.at(step*bytes/2), b[step/perTile].at(step%perTile*bytes)
		for i, cell := range into.a {
			x.fragment(cell, atA.Plus(int64(i*s.M*x.Pitch())))
		}
		for j, cell := range into.b {
			y[0].fragment(cell, atB.Plus(int64(j*s.N*y[0].Pitch())))
		}
		// A register holds the metadata of 64 units: of two steps if units have 16 bits, and of
		// twice as many with half the depth. The last operand selects the step.
		col := s.units(step * s.K)
		part := number(int64(col % 64 / s.units(s.K)))
		for i, cell := range into.sparsity {
			if col%64 != 0 {
				k.fill(cell, []ir.Operand{before.sparsity[i][0], part})
				continue
			}
			tell(i, col/8, &cell[0])
			cell[1] = part
		}
	}
	p.multiply = func(f factors) {
		w.multiply(f.a, f.b, func(i, _ int) []ir.Operand { return f.sparsity[i] })
	}
	return p
}

// sparse reports whether the tiles of MMASparse fit, and records the reason if not.
func (w *WarpTile[C]) sparse(x, meta SharedTile, y []SharedTile) bool {
	k, s := w.k, w.shape
	if x.at.k == nil || meta.at.k == nil || len(y) == 0 {
		k.fault(&ruleValue, "tile in SparseMMA is a zero value, not created by a builder call")
		return false
	}
	cols := 0
	for _, t := range y {
		if t.at.k == nil || t.Tile != y[0].Tile {
			k.fault(&ruleShape,
				"SparseMMA reads tiles %s and %s side by side, expected tiles of the same shape",
				y[0].Tile, t.Tile)
			return false
		}
		cols += t.Cols
	}
	switch {
	case s.Split || s.A.Bits() != 4 && s.A.Bits() != 6 && s.A.Bits() != 8 && s.A.Bits() != 16 &&
		s.A != isa.Tf32:
		k.fault(&ruleShape,
			"SparseMMA is not available for %s, expected .tf32 or a type of 4, 8 or 16 bits", s)
	case !s.Sparse:
		k.fault(&ruleShape,
			"SparseMMA is called with %s of %s, a dense shape; use a shape from SparseMMAFor", s,
			s.A)
	case !s.takes(x.Tile, s.A) || !s.takes(y[0].Tile, s.B):
		k.fault(&ruleShape, "operands of SparseMMA, %s and %s, do not match shape %s of %s: %s",
			x.Tile, y[0].Tile, s, s.A, s.differ())
	case cols != 2*x.Cols || y[0].RowBytes()%64 != 0 || s.units(cols)%64 != 0 || x.Rows < w.rows ||
		y[0].Rows < w.cols:
		k.fault(&ruleShape,
			"operands of SparseMMA, %s and %d tiles of %s, do not fit an accumulator of %dx%d: x must have half as many columns as the tiles of y together, its rows must be a multiple of 64 bytes, and both must have enough rows",
			x.Tile, len(y), y[0].Tile, w.rows, w.cols)
	case meta.RowBytes() != s.units(cols)/8 || meta.Rows != x.Rows || meta.Swizzle != NoSwizzle:
		k.fault(&ruleShape,
			"metadata tile %s of SparseMMA has the wrong shape, expected %d rows of %d bytes without a swizzle",
			meta.Tile, x.Rows, s.units(cols)/8)
	default:
		return true
	}
	return false
}

// metadataLoader returns a function that loads the sparsity metadata of 64 units of the i-th M rows
// into a register, starting at a byte offset in the rows of meta. It allocates the register if
// there is none. Four lanes share two rows, eight apart, and the 64 units: two steps of 16-bit
// units, or one of 8-bit units. For 16-bit units, a lane holds 16 units of both rows, in the halves
// of its register. For 8-bit units, even lanes hold 32 units of the upper row, and odd lanes 32
// units of the lower row.
func (w *WarpTile[C]) metadataLoader(meta SharedTile, from Reg[U32]) func(i, bytes int,
	into *ir.Operand) {
	k := w.k
	lane := k.Lane()
	row := from.Add(lane.ShrI(2))
	load := func(r ir.Operand, at Addr) { k.ins("ld.shared"+r.Reg.Type.String(), r, at.in(k)) }
	fresh := func(t isa.Type) ir.Operand { return ir.Operand{Kind: ir.Register, Reg: k.newReg(t)} }
	narrow := w.shape.unit() == 8
	var at Addr
	if narrow {
		row = row.Add(lane.AndI(1).ShlI(3))
		at = meta.at.add(row.MulI(int64(meta.Pitch())).Add(lane.AndI(2).ShlI(1)))
	} else {
		at = meta.at.add(row.MulI(int64(meta.Pitch())).Add(lane.AndI(3).ShlI(1)))
	}
	return func(i, bytes int, into *ir.Operand) {
		if into.Kind != ir.Register {
			*into = fresh(isa.B32)
		}
		here := at.Plus(int64(bytes + i*w.shape.M*meta.Pitch()))
		if narrow {
			load(*into, here)
			return
		}
		upper, lower := fresh(isa.B16), fresh(isa.B16)
		load(upper, here)
		load(lower, here.Plus(int64(8*meta.Pitch())))
		k.ins("mov.b32", *into, k.vector(upper, lower))
	}
}
