// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// ScaledMMAFor returns the shape of mma.sync for operands with scale factors and F32 accumulators
// (sm_120a). The operands are e2m1 and e2m1 with a scale factor per 32 or 16 elements, or any
// types of 8, 6 and 4 bits with a scale factor per 32 elements, where elements of 4 bits are
// padded (PTX ISA 9.1, section 9.7.14.5.14).
func ScaledMMAFor(a, b isa.Type, s BlockScale) MMA {
	m := MMA{M: 16, N: 8, K: 32, A: a, B: b, C: isa.F32, Scale: s}
	if a.Bits() == 4 && b.Bits() == 4 {
		m.K = 64
	}
	return m
}

// SparseScaledMMAFor returns the shape of ScaledMMAFor for a sparse A operand; see SparseMMAFor.
// The scale must come from [BlockScale.Sparse].
func SparseScaledMMAFor(a, b isa.Type, s BlockScale) MMA {
	m := ScaledMMAFor(a, b, s)
	m.K *= 2
	m.Sparse = true
	return m
}

// isScaled reports whether the operands have scale factors.
func (s MMA) isScaled() bool { return s.Scale.Vector > 0 }

// scaleFactors returns the number of scale factors per row and instruction, and the .kind
// modifier of the instruction. kind is "" if PTX has no such instruction.
func (s MMA) scaleFactors() (n int, kind string) {
	numbers, depth := s.Scale.Vector, s.K
	if s.Sparse {
		if numbers%2 != 0 {
			return 1, ""
		}
		numbers, depth = numbers/2, depth/2
	}
	eights := func(t isa.Type) bool { return kinds8[t] > 0 || t == isa.E4m3 }
	fours := s.A == isa.E2m1 && s.B == isa.E2m1
	switch {
	case s.M != 16 || s.N != 8 || s.C != isa.F32 || s.Split || s.Scale.Type != isa.Ue8m0 &&
		s.Scale.Type != isa.Ue4m3:
	case fours && numbers == 16 && depth == 64:
		return 4, "mxf4nvf4.block_scale.scale_vec::4X"
	case fours && numbers == 32 && depth == 64 && s.Scale.Type == isa.Ue8m0:
		return 2, "mxf4.block_scale.scale_vec::2X"
	case eights(s.A) && eights(s.B) && numbers == 32 && depth == 32 && s.Scale.Type == isa.Ue8m0:
		return 1, "mxf8f6f4.block_scale.scale_vec::1X"
	}
	return 1, ""
}

// scaling returns the modifiers of the opcode for the kind and the scale factors.
func (s MMA) scaling() string {
	switch {
	case !s.isScaled() && s.isPaddedToBytes():
		return ".kind::f8f6f4"
	case !s.isScaled():
		return ""
	}
	_, kind := s.scaleFactors()
	return ".kind::" + kind
}

// checkUnscaled reports whether the shape has no scale factors, and records a finding if it has.
func (w *WarpTile[C]) checkUnscaled() bool {
	if w.shape.isScaled() {
		w.k.fault(&ruleShape,
			"MMA is called with %s of %s and %s, a block-scaled shape; use ScaledMMAStep or SparseScaledMMAStep",
			w.shape, w.shape.A, w.shape.B)
		return false
	}
	return true
}

// ScaledMMA adds a product as MMA does, for block-scaled operands. scaleX and scaleY are tiles of
// a ScaleMap with the scale factors of the rows of x and y. The depth of the tiles must be a
// multiple of an atom's; see [BlockScale].
func (w *WarpTile[C]) ScaledMMA(x SharedTile, fromX Reg[U32], y SharedTile, fromY Reg[U32],
	scaleX, scaleY SharedTile) {
	if checkCreated(w.kernel(), "accumulator in ScaledMMA", x.at.k, y.at.k, scaleX.at.k,
		scaleY.at.k) {
		w.ScaledMMAStep(x, fromX, y, fromY, scaleX, scaleY).MMA()
	}
}

// ScaledMMAStep returns the MMAs that ScaledMMA executes, for AsyncPipeline.Multiply.
func (w *WarpTile[C]) ScaledMMAStep(x SharedTile, fromX Reg[U32], y SharedTile, fromY Reg[U32],
	scaleX, scaleY SharedTile) MMAStep {
	if !checkCreated(w.kernel(), "accumulator in ScaledMMAStep", x.at.k, y.at.k, scaleX.at.k,
		scaleY.at.k) {
		return MMAStep{}
	}
	_, depth := y.operandShape()
	if !w.checkOperands(x, y) || !w.checkScales(x, y, scaleX, scaleY, depth) {
		return MMAStep{reported: true}
	}
	return w.withScales(w.denseStep(x, fromX, y, fromY), scaleX, fromX, scaleY, fromY)
}

// SparseScaledMMA adds a product as ScaledMMA does, for a sparse A operand x; see SparseMMA.
func (w *WarpTile[C]) SparseScaledMMA(x SharedTile, fromX Reg[U32], meta SharedTile, y []SharedTile,
	fromY Reg[U32], scaleX, scaleY SharedTile) {
	if checkCreated(w.kernel(), "accumulator in SparseScaledMMA", x.at.k, meta.at.k, scaleX.at.k,
		scaleY.at.k) {
		w.SparseScaledMMAStep(x, fromX, meta, y, fromY, scaleX, scaleY).MMA()
	}
}

// SparseScaledMMAStep returns the MMAs that SparseScaledMMA executes, for AsyncPipeline.Multiply.
func (w *WarpTile[C]) SparseScaledMMAStep(x SharedTile, fromX Reg[U32], meta SharedTile,
	y []SharedTile, fromY Reg[U32], scaleX, scaleY SharedTile) MMAStep {
	if !checkCreated(w.kernel(), "accumulator in SparseScaledMMAStep", x.at.k, meta.at.k,
		scaleX.at.k,
		scaleY.at.k) {
		return MMAStep{}
	}
	if !w.checkSparse(x, meta, y) || !w.checkScales(x, y[0], scaleX, scaleY, 2*x.Cols) {
		return MMAStep{reported: true}
	}
	return w.withScales(w.sparseStep(x, fromX, meta, y, fromY), scaleX, fromX, scaleY, fromY)
}

// checkScales reports whether scale factors match tiles of the given depth, and records the
// reason if not.
func (w *WarpTile[C]) checkScales(x, y, scaleX, scaleY SharedTile, depth int) bool {
	k, s := w.k, w.shape
	_, kind := s.scaleFactors()
	switch {
	case !s.isScaled():
		k.fault(&ruleShape,
			"ScaledMMA is called with %s of %s and %s, a shape without scale factors; use a shape from ScaledMMAFor",
			s, s.A, s.B)
		return false
	case kind == "":
		k.fault(&ruleShape, "%s of %s and %s with a %s does not exist: mma.sync has no such kind",
			s, s.A, s.B, s.Scale)
		return false
	case !k.m.Is("sm_120a", "sm_120f", "sm_121a", "sm_121f"):
		k.fault(&ruleLacks,
			"%s does not support block-scaled mma.sync, which only sm_120a and its family have; on sm_100a use ScaledMMA of tensor memory",
			k.m.Target())
		return false
	case x.Type != s.A || y.Type != s.B:
		k.fault(&ruleShape,
			"operands of a block-scaled MMA, %s and %s, do not match shape %s, which multiplies A of %s by B of %s: the element types differ",
			x.Tile, y.Tile, s, s.A, s.B)
		return false
	}
	for i, f := range []SharedTile{scaleX, scaleY} {
		rows := []SharedTile{x, y}[i].Rows
		if f.at.k == nil || f.Type != isa.U64 || f.Swizzle != NoSwizzle ||
			depth%(4*s.Scale.Vector) != 0 || f.Cols != 64*depth/(4*s.Scale.Vector) ||
			128*f.Rows < rows {
			k.fault(&ruleShape,
				"scale factors %s do not fit %d rows of tiles of depth %d, expected a ScaleMap of that depth and as many rows, rounded up to a multiple of 128",
				f.Tile, rows, depth)
			return false
		}
		if f.halved && f.half.k == nil {
			k.fault(&ruleShape,
				"scale factors %s cover parts of atoms of 128 rows; call ScaleHalf with the index of the tile",
				f.Tile)
			return false
		}
	}
	return true
}

// withScales adds the loads of scale factors to an MMA step. A register holds four factors of a
// row, for one, two or four instructions; each instruction selects its first factor. Lane l holds
// the factors of row l/4 of A (plus eight if l is odd), and those of column l/4 of B.
func (w *WarpTile[C]) withScales(p MMAStep, scaleX SharedTile, fromX Reg[U32], scaleY SharedTile,
	fromY Reg[U32]) MMAStep {
	if p.k == nil {
		return p
	}
	k, s := w.k, w.shape
	each, _ := s.scaleFactors()
	lane := k.Lane()
	row := lane.ShrI(2)
	readX := scaleX.factorReader(fromX.Add(row.Add(lane.AndI(1).ShlI(3))), s.M)
	readY := scaleY.factorReader(fromY.Add(row), s.N)
	m, n := w.rows/s.M, w.cols/s.N
	kept := func(count int) [][]ir.Operand {
		cells := emptyCells(count, 2)
		for i, cell := range k.cells(count, 1, isa.B32) {
			cells[i][0] = cell[0]
		}
		return cells
	}
	room, keep, read := p.newFragments, p.newLiveFragments, p.read
	p.newFragments = func() fragmentSet {
		f := room()
		f.scaleA, f.scaleB = emptyCells(m, 2), emptyCells(n, 2)
		return f
	}
	p.newLiveFragments = func() fragmentSet {
		f := keep()
		f.scaleA, f.scaleB = kept(m), kept(n)
		return f
	}
	p.read = func(step int, before, into fragmentSet) {
		read(step, before, into)
		first := step * each
		// the index of the first factor, and the first lane of those that hold the factors
		which := k.vector(number(int64(first%4)), number(0))
		side := func(into, before [][]ir.Operand, read func(i, atom int, into *ir.Operand)) {
			for i, cell := range into {
				if first%4 != 0 {
					k.fill(cell, []ir.Operand{before[i][0], which})
					continue
				}
				read(i, first/4, &cell[0])
				cell[1] = which
			}
		}
		side(into.scaleA, before.scaleA, readX)
		side(into.scaleB, before.scaleB, readY)
	}
	more := func(f fragmentSet, i, j int) []ir.Operand {
		return []ir.Operand{f.scaleA[i][0], f.scaleA[i][1], f.scaleB[j][0], f.scaleB[j][1]}
	}
	p.multiply = func(f fragmentSet) {
		w.multiply(f.a, f.b, func(i, j int) []ir.Operand {
			if f.sparsity == nil {
				return more(f, i, j)
			}
			return append(append([]ir.Operand{}, f.sparsity[i]...), more(f, i, j)...)
		})
	}
	return p
}

// factorReader returns a function that loads four scale factors of a row into a register. The row
// is row plus i times rows, and atom is the index of the atom along K. If into has no register,
// the function allocates one.
func (t SharedTile) factorReader(row Reg[U32], rows int) func(i, atom int, into *ir.Operand) {
	k := t.at.k
	base := t.Addr()
	if t.half.k != nil {
		base = base.add(t.half.ShlI(2)) // a column of tensor memory has four bytes of a row
	}
	at := make(map[int]Addr)
	return func(i, atom int, into *ir.Operand) {
		if into.Kind != ir.Register {
			*into = ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B32)}
		}
		place, ok := at[i]
		if !ok {
			r := row.AddI(int64(i * rows))
			off := r.AndI(31).ShlI(4).Or(r.ShrI(3).AndI(12)) // 16 bytes hold four rows, 32 apart
			if t.Rows > 1 {
				off = r.ShrI(7).MadI(int64(t.Pitch()), off)
			}
			place = base.add(off)
			at[i] = place
		}
		k.ins("ld.shared.b32", *into, k.arg(place.Plus(int64(512*atom))))
	}
}
