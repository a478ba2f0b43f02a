// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl/internal/atoms"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A BlockScale describes a block-scaled format: each scale factor has the given type and applies to
// a block of Vector adjacent elements in a row. Scale factors are stored in atoms of 512 bytes, for
// 128 rows by four factors: factor c of row r is at byte (r mod 32)*16 + (r/32)*4 + c. In global
// memory atoms are stored in row-major order.
type BlockScale struct {
	Type   isa.Type // ue8m0 or ue4m3
	Vector int      // number of adjacent elements that share a scale factor
}

// The block-scaled formats.
var (
	MXFP8 = BlockScale{isa.Ue8m0, 32} // elements are e4m3 or e5m2
	MXFP6 = BlockScale{isa.Ue8m0, 32} // elements are e2m3 or e3m2
	MXFP4 = BlockScale{isa.Ue8m0, 32} // elements are e2m1
	NVFP4 = BlockScale{isa.Ue4m3, 16} // elements are e2m1
)

// Offset returns the byte offset in global memory of the scale factor for the element at row and
// col, in a matrix with cols columns.
func (b BlockScale) Offset(row, col, cols int) int {
	return atoms.ScaleOffset(b.Vector, row, col, cols)
}

// Bytes returns the size in bytes of the scale factors of a matrix, with rows and columns rounded
// up to whole atoms. Scale factors in the padding must be valid numbers, since zero times NaN is
// NaN.
func (b BlockScale) Bytes(rows, cols int) int { return atoms.ScaleBytes(b.Vector, rows, cols) }

// ScaleMap declares a parameter for the scale factors of a tile of rows by cols elements. The
// tensor map copies whole atoms as bytes. rows must be a multiple of 128, or 64 or 192; in the
// latter two cases every second tile starts in the middle of an atom (see
// [SharedTile.ScaleHalf]).
func (k *Kernel) ScaleMap(name string, b BlockScale, rows, cols int) *TensorMap {
	k = k.sound()
	atoms := cols / (4 * max(1, b.Vector))
	if rows%128 != 0 && rows != 64 && rows != 192 || rows < 1 || b.Vector < 1 ||
		cols%(4*b.Vector) != 0 || atoms > 4 && (rows > 128 || atoms > 16) {
		k.fault(&ruleShape,
			"scale factors are declared for %dx%d with one per %d elements, expected a multiple of 128 rows, or 64 or 192, and a multiple of %d columns, at most %d",
			rows, cols, b.Vector, 4*b.Vector, 16*b.Vector)
		rows, atoms = 128, 1
	}
	m := k.TensorMap(name, isa.U64, Box{Rows: (rows + 127) / 128, Cols: 64 * atoms}, NoSwizzle)
	m.scale = b
	if rows%128 != 0 {
		m.halves = rows / 64
	}
	return m
}

// ScaleHalf returns the scale factors of tile n for a ScaledMMA with 64 or 192 columns. For an
// odd n they start in the middle of an atom of 128 rows. For an operand whose tensor map has scale
// factors attached (see [TensorMap.Scaled]), it returns the operand with those of tile n.
func (t SharedTile) ScaleHalf(n Reg[U32]) SharedTile {
	k := t.at.k
	switch {
	case !checkCreated(k, "tile in ScaleHalf", n.k):
	case t.from != nil && t.from.scales != nil && t.from.scales.halves == 0:
	case t.from != nil && t.from.scales != nil:
		t.half = n.AndI(1).ShlI(1)
	case !t.halved:
		k.fault(&ruleShape,
			"ScaleHalf is called on %s, expected scale factors of a ScaleMap with 64 or 192 rows",
			t)
	default:
		t.half = n.AndI(1).ShlI(1) // 64 rows are two columns of an atom
	}
	return t
}

// scaledKind returns the kind of MMA for element types with scale factors. ok is false if there
// is none. In a sparse MMA a scale factor applies to twice as many elements, counting zeros.
func scaledKind(a, b Tile, s BlockScale, sparse bool) (kind tensorKind, ok bool) {
	x, ok1 := kinds8[a.Type]
	y, ok2 := kinds8[b.Type]
	fours := a.Type == isa.E2m1 && b.Type == isa.E2m1 && !a.Padded && !b.Padded
	numbers := s.Vector
	if sparse {
		numbers /= 2
	}
	switch {
	case sparse && s.Vector%2 != 0:
	case fours && numbers == 16:
		return tensorKind{"mxf4nvf4", 1, 1, 64}, true
	case fours && numbers == 32 && s.Type == isa.Ue8m0:
		return tensorKind{"mxf4", 1, 1, 64}, true
	case ok1 && ok2 && numbers == 32 && s.Type == isa.Ue8m0 && a.elementBits() == 8 &&
		b.elementBits() == 8:
		return tensorKind{"mxf8f6f4", x, y, 32}, true
	}
	return tensorKind{}, false
}

// scaleQualifier returns the modifier that specifies how elements share scale factors. Since PTX
// 8.8, which family targets require, it specifies the number of elements per factor; before, the
// number of factors per instruction.
func (k *Kernel) scaleQualifier(kind tensorKind) string {
	named := map[string][2]string{"mxf8f6f4": {"block32", "scale_vec::1X"},
		"mxf4": {"block32", "scale_vec::2X"}, "mxf4nvf4": {"block16", "scale_vec::4X"}}[kind.name]
	if k.m.hasVersion(808) {
		return named[0]
	}
	return named[1]
}

// Scales reserves tensor memory columns for the scale factors of one pipeline stage, whose tiles
// have cols columns.
func (t *TMEM) Scales(b BlockScale, cols int) *TMEM {
	if t.kernel() == nil {
		return t
	}
	atoms := min(512, max(0, cols)/(4*max(1, b.Vector)))
	t.scaled = atoms
	t.scaleA = t.k.reserveColumns(4 * atoms) // each block has 128 rows of A, also in a CTA pair
	t.scaleB = t.k.reserveColumns(4 * atoms * t.scaleRows())
	t.k.tmem.addPlan(t.scaleA, 4*atoms, "%s, scale factors of A", t.name)
	t.k.tmem.addPlan(t.scaleB, 4*atoms*t.scaleRows(), "%s, scale factors of B", t.name)
	return t
}

// scaleRows returns the number of 128-column groups for which the B operand has scale factors.
func (t *TMEM) scaleRows() int { return (t.cols + 127) / 128 }

// ScaledMMA adds the product of x and the transpose of y, with scale factors. The thread first
// copies the scale factors from shared to tensor memory; tcgen05 executes the copy and the MMA in
// order. x is sparse if its tensor map has indices attached (see [TensorMap.Sparse]).
func (a *AccumulatorStage) ScaledMMA(b BlockScale, x, y, scaleX, scaleY SharedTile) {
	a.issueScaled(tensorProduct{x: x, y: y, scales: &scales{BlockScale: b, x: scaleX, y: scaleY}})
}

// scales holds the scale factors of the operands of an MMA.
type scales struct {
	BlockScale
	x, y SharedTile
	each int // number of scale factors of a row per instruction
}

// issueScaled checks and issues an MMA with scale factors. If the product has metadata, x is
// sparse and has half as many columns as y.
func (a *AccumulatorStage) issueScaled(p tensorProduct) {
	k, s := a.kernel(), p.scales
	if !checkCreated(k, "accumulator in ScaledMMA", p.x.at.k, p.y.at.k, s.x.at.k, s.y.at.k) {
		return
	}
	if p.sparsity == nil {
		p.sparsity = p.x.attachedIndices()
	}
	a.multiplied = true
	defer p.readStages()
	if a.t.deep && !a.checkDepth96(&p) {
		return
	}
	kind, ok := scaledKind(p.x.Tile, p.y.Tile, s.BlockScale, p.sparsity != nil)
	if !ok {
		k.fault(&ruleShape,
			"tcgen05 has no block-scaled MMA of %s and %s with a %s per %d elements; if the other operand has 6-bit or 8-bit elements, 4-bit elements must be padded",
			p.x.Tile, p.y.Tile, s.Type, s.Vector)
		return
	}
	if a.t.half {
		k.fault(&ruleShape,
			"block-scaled MMA writes an accumulator of .f16 (F16Accumulators), expected .f32")
		return
	}
	if a.t.deep {
		kind.depth = 96
	}
	p.kind = kind
	_, depth := p.y.operandShape()
	if !a.checkFits(p) || !a.checkScales(s, depth) {
		return
	}
	s.each = kind.depth * p.ratio() / s.Vector
	id := p.operandBits() | uint32(a.t.cols>>3)<<17 | uint32(a.t.rows>>7)<<27
	if s.Type == isa.Ue8m0 {
		id |= 1 << 23
	}
	if a.t.deep {
		id |= 1 << 31
	}
	p.op = ".block_scale." + k.scaleQualifier(kind)
	// Four factors of a row share one column; the instruction descriptor selects one of them.
	p.id = func(step int) uint32 {
		part := uint32(step * s.each % 4)
		return id | part<<4 | part<<29
	}
	a.issue(p)
}

// checkDepth96 reports whether the operands fit an MMA with a depth of 96, and records the reason
// if not.
func (a *AccumulatorStage) checkDepth96(p *tensorProduct) bool {
	for _, t := range []SharedTile{p.x, p.y} {
		if p.left != nil || p.sparsity != nil || t.Type != isa.E2m1 || t.Padded || t.isTransposed ||
			t.Swizzle != Swizzle128 || t.Cols%768 != 0 {
			a.t.k.fault(&ruleShape,
				"operands %s and %s do not fit a block-scaled MMA with a depth of 96, expected dense packed .e2m1 with a swizzle of 128 bytes and a multiple of 768 columns",
				p.x, p.y)
			return false
		}
	}
	return true
}

// copy emits the copies of the scale factors to tensor memory.
func (s *scales) copy(t *TMEM) {
	base := Reg[U32]{k: t.k, r: t.k.tmem.base}
	t.k.copyScales(s.x, base.AddI(int64(t.scaleA)))
	t.k.copyScales(s.y, base.AddI(int64(t.scaleB)))
}

// at returns the operands with the tensor memory addresses of the scale factors for a step.
func (s *scales) at(t *TMEM, step int) []ir.Operand {
	base, column := Reg[U32]{k: t.k, r: t.k.tmem.base}, 4*(step*s.each/4)
	atA := base.AddI(int64(t.scaleA + column))
	atB := base.AddI(int64(t.scaleB + column*t.scaleRows()))
	if s.y.half.k != nil {
		atB = atB.Add(s.y.half)
	}
	return []ir.Operand{tensorAddress(t.k, atA), tensorAddress(t.k, atB)}
}

// checkScales reports whether scale factors match tiles of the given depth, and records the
// reason if not.
func (a *AccumulatorStage) checkScales(s *scales, depth int) bool {
	k := a.t.k
	for i, f := range []SharedTile{s.x, s.y} {
		rows := []int{1, a.t.scaleRows()}[i]
		switch {
		case f.at.k == nil || f.Type != isa.U64 || f.Cols != 64*depth/(4*s.Vector) ||
			f.Rows != rows:
			k.fault(&ruleShape,
				"scale factors %s do not fit tiles of depth %d, expected a ScaleMap of %d rows and that depth",
				f.Tile, depth, 128*rows)
			return false
		case f.halved && (i == 0 || f.half.k == nil || a.t.cols%128 == 0):
			k.fault(&ruleShape,
				"scale factors cover %d columns of the accumulator, expected a ScaleMap with 64 or 192 rows and ScaleHalf",
				a.t.cols)
			return false
		case f.stage == nil:
			k.fault(&ruleProtocol,
				"scale factors belong to no pipeline stage: nothing waits for the MMA before they are overwritten")
			return false
		}
	}
	switch {
	case a.t.scaled == 0:
		k.fault(&ruleProtocol,
			"no tensor memory is reserved for scale factors; call Scales when the accumulators are declared")
	case a.t.scaled != depth/(4*s.Vector):
		k.fault(&ruleProtocol,
			"tensor memory is reserved for scale factors of depth %d, but the tiles have depth %d; pass that depth to Scales",
			4*s.Vector*a.t.scaled, depth)
	case a.t.rows < 128:
		k.fault(&ruleShape,
			"block-scaled MMA writes an accumulator of %d rows, expected 128, or 256 for a CTA pair",
			a.t.rows)
	default:
		return true
	}
	return false
}

// copyScales emits the copies of the atoms of a scale factor tile to tensor memory. For each atom
// along K, the four columns of all groups of 128 rows are adjacent.
func (k *Kernel) copyScales(from SharedTile, to Reg[U32]) {
	atoms := from.Cols / 64
	d := k.atomDescriptor(from)
	for atom := range atoms {
		for row := range from.Rows {
			off := int64(512 * (row*atoms + atom))
			column := int64(4 * (atom*from.Rows + row))
			k.ins("tcgen05.cp."+k.tmem.ctaGroup()+".32x128b.warpx4",
				tensorAddress(k, to.AddI(column)),
				k.arg(d.AddI(off>>4)))
		}
	}
}

// Sparse returns the scale format for an MMA with a sparse A operand (SparseScaledMMA): each
// scale factor applies to twice as many elements, counting zeros.
func (b BlockScale) Sparse() BlockScale { return BlockScale{b.Type, 2 * b.Vector} }

// String returns a description of the format for messages.
func (b BlockScale) String() string { return fmt.Sprintf("%s for %d", b.Type, b.Vector) }
