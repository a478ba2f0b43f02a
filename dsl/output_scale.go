// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A ScaleOutput is a parameter that points to the scale factors of a block-scaled matrix that the
// kernel writes. They have the layout of [BlockScale.Offset], which the ScaleMap of a later
// kernel reads.
type ScaleOutput struct {
	BlockScale
	k          *Kernel
	name       string
	at         Array[U32]
	rows, cols Reg[U32]
}

// ScaleOutput declares a parameter that points to the scale factors that [Output.StoreScaled]
// writes, [BlockScale.Bytes] bytes.
func (k *Kernel) ScaleOutput(name string, b BlockScale) *ScaleOutput {
	k = k.sound()
	if b.Type != isa.Ue8m0 && b.Type != isa.Ue4m3 || b.Vector != 16 && b.Vector != 32 {
		k.fault(&ruleShape,
			"scale factors have type %s, expected .ue8m0 or .ue4m3, one per 16 or 32 elements", b)
		b = NVFP4
	}
	return &ScaleOutput{BlockScale: b, k: k, name: name, at: Global[U32](k, name)}
}

// Sized returns the scale output for a matrix with the given numbers of rows and columns.
func (s *ScaleOutput) Sized(rows, cols Reg[U32]) *ScaleOutput {
	if s == nil || !checkCreated(s.k, "scale output in Sized", rows.k, cols.k) {
		return s
	}
	sized := *s
	sized.rows, sized.cols = rows, cols
	return &sized
}

// maxValue returns the largest finite value of the small floating-point type t.
func maxValue(t isa.Type) float64 {
	switch t {
	case isa.E4m3:
		return 448
	case isa.E5m2:
		return 57344
	case isa.E2m3:
		return 7.5
	case isa.E3m2:
		return 28
	}
	return 6 // e2m1
}

// StoreScaled stores rows as StoreRows does, to a block-scaled matrix. The scale factor of a
// block is its largest magnitude divided by the largest value of the element type, rounded (up to
// a power of two for .ue8m0). Elements are divided by their scale factor. A scale for the whole
// matrix, which brings the scale factors into the range of .ue4m3, must be applied by the
// function elements. The tile must have two blocks per row, or a multiple of four.
func (o *Output) StoreScaled(to *ScaleOutput, row, col Reg[U32],
	elements func(col, n int) []Reg[F32]) {
	k := o.kernel()
	if !checkCreated(k, "output in StoreScaled", row.k, col.k) ||
		!k.checkFunctions("StoreScaled", elements != nil) {
		return
	}
	t := o.to.tile
	switch {
	case to == nil || to.k == nil:
		k.fault(&ruleValue,
			"scale output in StoreScaled is a zero value, not created by a builder call")
		return
	case !checkCreated(k, "output in StoreScaled", to.k):
		return
	case to.rows.k == nil:
		k.fault(&ruleShape, "scale output %s has no size; use Sized", to.name)
		return
	case t.Type.Bits() > 8 || !isStorable(t.Type) || t.Cols%(4*to.Vector) != 0 &&
		t.Cols != 2*to.Vector:
		k.fault(&ruleShape,
			"output tile %s with %s is not supported, expected .e4m3, .e5m2, .e2m3, .e3m2 or .e2m1 and a multiple of %d columns, or %d",
			t, to.BlockScale, 4*to.Vector, 2*to.Vector)
		return
	}
	line := k.Thread().AndI(127)
	atoms := to.cols.CeilDiv(int64(4 * to.Vector))
	// The index of a word of four scale factors in the row. Scale factors are stored in units of
	// 128 rows, and the tile starts at such a unit.
	word := row.ShrI(7).Mul(atoms).ShlI(7).Add(line.AndI(31).ShlI(2)).Add(line.ShrI(5))
	inside := row.LT(to.rows)
	var codes []ir.Operand // registers that each hold two scale factors
	o.storeRows(row, col, 2*to.Vector, func(c, n int) []Reg[F32] {
		x := elements(c, n)
		if len(x) != n {
			return x
		}
		low, high := x[:n/2], x[n/2:]
		code, by := k.scaleFactors(to.Type, t.Type, low, high)
		codes = append(codes, code)
		switch left := col.AddI(int64((c + n - 1) / (4 * to.Vector) * 4 * to.Vector)); {
		case t.Cols == n:
			at := Array[B8]{
				at: to.at.at}.At(
				word.Add(left.DivI(int64(4 * to.Vector)).ShlI(7)).ShlI(2).Add(
					left.RemI(int64(4 * to.Vector)).DivI(int64(to.Vector))))
			k.If(inside.And(left.LT(to.cols)), func() { k.ins("st.global.b16", at.at.in(k), code) })
		case len(codes) == 2:
			all := fresh[U32](k)
			k.ins("mov.b32", all.in(k), k.vector(codes...))
			codes = nil
			at := to.at.At(word.Add(left.DivI(int64(4 * to.Vector)).ShlI(7)))
			k.If(inside.And(left.LT(to.cols)), func() { at.StoreFirst(all) })
		}
		scaled := make([]Reg[F32], n)
		for i := range scaled {
			scaled[i] = x[i].Mul(by[2*i/n])
		}
		return scaled
	}, true)
}

// scaleFactors returns the scale factors of two lists of elements as two bytes of one register,
// and the factors by which the elements are multiplied.
func (k *Kernel) scaleFactors(t, of isa.Type,
	low, high []Reg[F32]) (code ir.Operand, by [2]Reg[F32]) {
	var want [2]Reg[F32]
	for i, list := range [2][]Reg[F32]{low, high} {
		want[i] = list[0].Abs()
		for _, x := range list[1:] {
			want[i] = want[i].Max(x.Abs())
		}
		want[i] = want[i].MulF(1 / maxValue(of))
	}
	code = ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B16)}
	if t == isa.Ue8m0 {
		k.ins("cvt.rp.satfinite.ue8m0x2.f32", code, k.arg(want[1]), k.arg(want[0]))
		both := Reg[U16]{k: k, r: code.Reg, scope: k.scope()}
		exponents := To[U32](both)
		for i := range by {
			// The reciprocal of a power of two has the negated exponent. That of the largest one,
			// which scales infinities, is subnormal.
			power := k.U32(254).Sub(exponents.ShrI(int64(8 * i)).AndI(255)).ShlI(23)
			by[i] = Bits[F32](power.MaxI(0x400000))
		}
		return code, by
	}
	k.ins("cvt.rn.satfinite.e4m3x2.f32", code, k.arg(want[1]), k.arg(want[0]))
	halves := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B32)}
	k.ins("cvt.rn.f16x2.e4m3x2", halves, code)
	for i, is := range k.unpackWord(isa.F16, halves) {
		by[i] = fresh[F32](k)
		k.ins("rcp.approx.ftz.f32", by[i].in(k), is.in(k))
		by[i] = by[i].Min(k.F32(0x1.fffffep127)) // zero divided by a zero scale must give zero
	}
	return code, by
}
