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

// units returns the number of metadata units in the given number of elements.
func (s MMA) units(numbers int) int { return numbers * s.elementBits(s.A) / s.unit() }

// SparseMMA adds a product as MMA does, for a sparse A operand x, which stores two of each four
// adjacent elements in a row. The tiles of y are side by side and together have twice as many
// columns as x. The tile meta holds the sparsity metadata: for every four elements, the indices
// of the two stored ones, two bits each, the first in the lowest bits.
func (w *WarpTile[C]) SparseMMA(x SharedTile, fromX Reg[U32], meta SharedTile, y []SharedTile,
	fromY Reg[U32]) {
	if checkCreated(w.kernel(), "accumulator in SparseMMA", x.at.k, meta.at.k) {
		w.SparseMMAStep(x, fromX, meta, y, fromY).MMA()
	}
}

// SparseMMAStep returns the MMAs that SparseMMA executes, for AsyncPipeline.Multiply.
func (w *WarpTile[C]) SparseMMAStep(x SharedTile, fromX Reg[U32], meta SharedTile, y []SharedTile,
	fromY Reg[U32]) MMAStep {
	if !checkCreated(w.kernel(), "accumulator in SparseMMAStep", x.at.k, meta.at.k) {
		return MMAStep{}
	}
	if !w.checkUnscaled() || !w.checkSparse(x, meta, y) {
		return MMAStep{reported: true}
	}
	return w.sparseStep(x, fromX, meta, y, fromY)
}

// sparseStep returns the MMA step for a sparse A tile x with metadata meta, and B tiles y, whose
// shapes have been checked.
func (w *WarpTile[C]) sparseStep(x SharedTile, fromX Reg[U32], meta SharedTile, y []SharedTile,
	fromY Reg[U32]) MMAStep {
	k, s := w.k, w.shape
	lane := k.Lane()
	a := x.reader(fromX.Add(lane.AndI(15)), lane.ShrI(4))
	b := make([]tileReader, len(y))
	for i, t := range y {
		b[i] = t.reader(fromY.Add(lane.AndI(7)), lane.ShrI(3))
	}
	tell := w.metadataLoader(meta, fromX)
	// bytes of a row of B per step, and registers of A and of B per step; half as many with half
	// the depth
	bytes := s.K * s.elementBits(s.B) / 8
	registers := bytes / 16
	perTile := y[0].RowBytes() / bytes
	m, n := w.rows/s.M, w.cols/s.N
	room := func(sparsity [][]ir.Operand) fragmentSet {
		return fragmentSet{a: k.cells(m, registers, isa.B32), b: k.cells(n, registers, isa.B32),
			sparsity: sparsity}
	}
	p := w.newStep(2 * x.RowBytes() / bytes)
	p.newFragments = func() fragmentSet { return room(emptyCells(m, 2)) }
	p.newLiveFragments = func() fragmentSet {
		sparsity := emptyCells(m, 2)
		for i, cell := range k.cells(m, 1, isa.B32) {
			sparsity[i][0] = cell[0]
		}
		return room(sparsity)
	}
	p.read = func(step int, before, into fragmentSet) {
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
	p.multiply = func(f fragmentSet) {
		w.multiply(f.a, f.b, func(i, _ int) []ir.Operand { return f.sparsity[i] })
	}
	return p
}

// checkSparse reports whether the tiles fit a sparse MMA, and records the reason if not.
func (w *WarpTile[C]) checkSparse(x, meta SharedTile, y []SharedTile) bool {
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
	case !s.accepts(x.Tile, s.A) || !s.accepts(y[0].Tile, s.B):
		k.fault(&ruleShape,
			"operands of SparseMMA, %s and %s, do not match shape %s, which multiplies elements of %s: %s",
			x.Tile, y[0].Tile, s, s.A, s.describeMismatch())
	case cols != 2*x.Cols:
		k.fault(&ruleShape,
			"operands of SparseMMA, %s and %d tiles of %s, have the wrong widths: A must have half as many columns as the tiles of B together",
			x.Tile, len(y), y[0].Tile)
	case y[0].RowBytes()%64 != 0 || s.units(cols)%64 != 0:
		k.fault(&ruleShape,
			"B operand of SparseMMA, %s, has rows of the wrong length, expected a multiple of 64 bytes",
			y[0].Tile)
	case x.Rows < w.rows || y[0].Rows < w.cols:
		k.fault(&ruleShape,
			"operands of SparseMMA, %s and %s, do not fit an accumulator of %dx%d, expected tiles of at least %d and %d rows",
			x.Tile, y[0].Tile, w.rows, w.cols, w.rows, w.cols)
	case meta.RowBytes() != s.units(cols)/8 || meta.Rows != x.Rows || meta.Swizzle != NoSwizzle:
		k.fault(&ruleShape,
			"metadata tile %s of SparseMMA has the wrong shape, expected %d rows of %d bytes without a swizzle",
			meta.Tile, x.Rows, s.units(cols)/8)
	default:
		return true
	}
	return false
}

// metadataLoader returns a function that loads the sparsity metadata of 64 units into a register,
// for the i-th group of M rows, starting at a byte offset in the rows of meta. If into has no
// register, the function allocates one. Four lanes share two rows, eight apart, and the 64 units:
// two steps of 16-bit units, or one step of 8-bit units. For 16-bit units, a lane holds 16 units
// of both rows, in the halves of its register. For 8-bit units, even lanes hold 32 units of the
// upper row, and odd lanes 32 units of the lower row.
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
