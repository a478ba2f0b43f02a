// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A BlockScale says how numbers of a block-scaled format share scale factors: so many neighbours along a row have one, of a
// type. Scale factors are kept in atoms of 128 rows by four factors, 512 bytes, in which row r's factor c stands at byte
// (r mod 32)*16 + (r/32)*4 + c: in global memory one atom behind the other along a row, then row by row of atoms.
type BlockScale struct {
	Type   isa.Type // ue8m0 or ue4m3
	Vector int      // numbers that share a factor
}

// The block-scaled formats.
var (
	MXFP8 = BlockScale{isa.Ue8m0, 32} // with e4m3 or e5m2
	MXFP6 = BlockScale{isa.Ue8m0, 32} // with e2m3 or e3m2
	MXFP4 = BlockScale{isa.Ue8m0, 32} // with e2m1
	NVFP4 = BlockScale{isa.Ue4m3, 16} // with e2m1
)

// Offset is where the scale factor of a number lies in global memory, in bytes, for a matrix of so many columns.
func (b BlockScale) Offset(row, col, cols int) int {
	atoms := (cols + 4*b.Vector - 1) / (4 * b.Vector) // along a row
	factor := col / b.Vector
	return 512*(row/128*atoms+factor/4) + row%32*16 + row%128/32*4 + factor%4
}

// Bytes is the bytes of the scale factors of a matrix, whose rows and columns are rounded up to whole atoms. Factors of what the matrix does
// not have are numbers too: zero times NaN would be NaN.
func (b BlockScale) Bytes(rows, cols int) int {
	return b.Offset((rows-1)/128*128+127, cols-1, cols)/512*512 + 512
}

// ScaleMap is a parameter for the scale factors of a tile of rows and columns: the tensor map moves whole atoms, as bytes.
func (k *Kernel) ScaleMap(name string, b BlockScale, rows, cols int) *TensorMap {
	atoms := cols / (4 * max(1, b.Vector))
	if rows%128 != 0 || b.Vector < 1 || cols%(4*b.Vector) != 0 || atoms > 4 {
		k.fault(&ruleShape, "scale factors for %dx%d with one for %d numbers; a multiple of 128 rows and of %d columns, at most %d, is expected", rows, cols, b.Vector, 4*b.Vector, 16*b.Vector)
		rows, atoms = 128, 1
	}
	return k.TensorMap(name, isa.U64, Box{Rows: rows / 128, Cols: 64 * atoms}, NoSwizzle)
}

// scaledKind is the kind of tcgen05.mma for block-scaled types. A sparse product counts zeros too, so that a scale factor is for twice
// as many numbers.
func scaledKind(a, b Tile, s BlockScale, sparse bool) (tensorKind, bool) {
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
	case ok1 && ok2 && numbers == 32 && s.Type == isa.Ue8m0 && a.wide() == 8 && b.wide() == 8:
		return tensorKind{"mxf8f6f4", x, y, 32}, true
	}
	return tensorKind{}, false
}

// scaleQualifier says how many numbers share a factor: by their count since PTX 8.8, which the targets of a family take, and before it by the
// factors of an instruction.
func (k *Kernel) scaleQualifier(kind tensorKind) string {
	named := map[string][2]string{"mxf8f6f4": {"block32", "scale_vec::1X"}, "mxf4": {"block32", "scale_vec::2X"}, "mxf4nvf4": {"block16", "scale_vec::4X"}}[kind.name]
	if k.m.atLeast(808) {
		return named[0]
	}
	return named[1]
}

// Scales takes the columns of tensor memory that the scale factors of one stage of a pipeline need, for tiles that are cols deep.
func (t *TMEM) Scales(b BlockScale, cols int) *TMEM {
	atoms := cols / (4 * max(1, b.Vector))
	t.scaleA = t.k.columns(4 * atoms * ((t.rows + 127) / 128))
	t.scaleB = t.k.columns(4 * atoms * ((t.cols + 127) / 128))
	return t
}

// ScaledMMA adds the product of x and the transpose of y, each number times the scale factor of its block. The factors travel
// from shared to tensor memory before it, by the same thread, which keeps the order.
func (a *AccumulatorStage) ScaledMMA(b BlockScale, x, y, scaleX, scaleY SharedTile) {
	a.scaled(b, x, nil, y, scaleX, scaleY)
}

// scaled multiplies, and where there are places x is sparse: it has half of the columns of y.
func (a *AccumulatorStage) scaled(b BlockScale, x SharedTile, places *SharedTile, y, scaleX, scaleY SharedTile) {
	k := a.t.k
	sparse := places != nil
	kind, ok := scaledKind(x.Tile, y.Tile, b, sparse)
	if !ok {
		k.fault(&ruleShape, "block-scaled MMA of %s and %s with a %s for %d numbers: tcgen05 has no kind for it; with numbers of 6 and 8 bits, those of 4 are padded", x.Tile, y.Tile, b.Type, b.Vector)
		return
	}
	ratio := 1
	if sparse {
		ratio = 2
	}
	if !a.fits(x, y, kind.depth, ratio) || !a.fitsScales(b, y.Cols, scaleX, scaleY) || sparse && !a.fitsPlaces(x, *places) {
		return
	}
	base := Reg[U32]{k: k, r: k.tmem.base}
	sx, sy, zeros := base.AddI(int64(a.t.scaleA)), base.AddI(int64(a.t.scaleB)), base.AddI(int64(a.t.places))
	dx, dy := k.tensorDescriptor(x), k.tensorDescriptor(y)
	to := a.address()
	id := kind.a<<7 | kind.b<<10 | uint32(a.t.cols>>3)<<17 | uint32(a.t.rows>>7)<<27
	if b.Type == isa.Ue8m0 {
		id |= 1 << 23
	}
	op := "tcgen05.mma."
	if sparse {
		id |= 1 << 2
		op += "sp."
	}
	op += k.tmem.group() + ".kind::" + kind.name + ".block_scale." + k.scaleQualifier(kind)
	each := kind.depth * ratio / b.Vector // factors of a row that one instruction takes
	a.begin(x)
	idesc := make(map[uint32]Reg[U32])
	for step := range x.Cols / kind.depth {
		id4 := uint32(step * each % 4)
		idesc[id4] = k.constant(id | id4<<4 | id4<<29)
	}
	k.When(k.Leader(), func() {
		if sparse {
			k.copyPlaces(*places, zeros)
		}
		k.copyScales(scaleX, sx)
		k.copyScales(scaleY, sy)
		for step := range x.Cols / kind.depth {
			col := step * kind.depth
			args := []ir.Operand{tensorAddress(k, to), k.arg(dx.AddI(int64(x.Offset0(col) >> 4))), k.arg(dy.AddI(int64(y.Offset0(col*ratio) >> 4)))}
			if sparse {
				args = append(args, tensorAddress(k, zeros.AddI(int64(2*step))))
			}
			// Four factors of a row stand in one column; the descriptor picks among them.
			column, id4 := step*each/4, uint32(step*each%4)
			args = append(args, k.arg(idesc[id4]),
				tensorAddress(k, sx.AddI(int64(4*column))), tensorAddress(k, sy.AddI(int64(4*column*((a.t.cols+127)/128)))),
				k.arg(a.used))
			k.ins(op, args...)
			if step == 0 {
				a.mark()
			}
		}
	})
	for _, t := range []SharedTile{x, y, scaleX, scaleY} {
		t.stage.reads(tcgen05)
	}
}

// fitsScales reports what keeps scale factors from being those of tiles that are so deep.
func (a *AccumulatorStage) fitsScales(b BlockScale, depth int, scaleX, scaleY SharedTile) bool {
	k := a.t.k
	for _, s := range []SharedTile{scaleX, scaleY} {
		if s.at.k == nil || s.Type != isa.U64 || s.Cols != 64*depth/(4*b.Vector) {
			k.fault(&ruleShape, "scale factors %s for tiles %d deep; a ScaleMap of that depth is expected", s.Tile, depth)
			return false
		}
	}
	switch {
	case a.t.scaleB == 0:
		k.fault(&ruleProtocol, "no tensor memory for scale factors; say Scales when the accumulators are made")
	case a.t.rows < 128:
		k.fault(&ruleShape, "block-scaled MMA into an accumulator of %d rows; 128 are expected, or 256 for a pair of blocks", a.t.rows)
	default:
		return true
	}
	return false
}

// copyScales copies the atoms of a tile of scale factors into tensor memory: for each atom along the row, the four columns of every
// 128 rows side by side.
func (k *Kernel) copyScales(from SharedTile, to Reg[U32]) {
	atoms := from.Cols / 64
	d := k.atomDescriptor(from)
	for atom := range atoms {
		for row := range from.Rows {
			off := int64(512 * (row*atoms + atom))
			column := int64(4 * (atom*from.Rows + row))
			k.ins("tcgen05.cp."+k.tmem.group()+".32x128b.warpx4", tensorAddress(k, to.AddI(column)), k.arg(d.AddI(off>>4)))
		}
	}
}

// Sparse is the scaling of a product whose first matrix is half zero (SparseScaledMMA): a factor is for twice as many numbers, zeros counted.
func (b BlockScale) Sparse() BlockScale { return BlockScale{b.Type, 2 * b.Vector} }

// String is the format of the scale factors as messages name it.
func (b BlockScale) String() string { return fmt.Sprintf("%s for %d", b.Type, b.Vector) }
