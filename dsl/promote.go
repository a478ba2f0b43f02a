// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Clear sets every element to zero.
func (w *WarpTile[C]) Clear() {
	if !checkCreated(w.kernel(), "accumulator in Clear") {
		return
	}
	w.operandCount++
	for _, line := range w.regs {
		for _, cell := range line {
			for _, sum := range cell {
				w.k.ins("mov"+bits(sum.r.Type.Bits()).String(), sum.in(w.k), number(0))
			}
		}
	}
}

// Clear sets every element to zero. It is only needed if Promote may read the accumulator before
// its first MMA; the first MMA overwrites the accumulator.
func (a *Accumulator) Clear() {
	if !checkCreated(a.kernel(), "accumulator in Clear") {
		return
	}
	a.empty = false
	a.operandCount++
	for _, regs := range a.regs {
		for _, r := range regs {
			a.k.ins("mov"+bits(r.Type.Bits()).String(),
				a.k.arg(Reg[B32]{k: a.k, r: r, scope: a.used.scope}), number(0))
		}
	}
	a.k.ins("setp.eq.b32", a.used.in(a.k), number(0), number(0))
}

// Promote calls f for each element of part and the element of total at the same position, and
// stores the result in total. Use it if the scale of the operands changes along K: each partial
// sum of integers or small floats is scaled and added to an F32 accumulator.
//
//	type f32 = dsl.Reg[dsl.F32]
//	dsl.Promote(total, part, func(c dsl.Cell, sum f32, x dsl.Reg[dsl.S32]) f32 {
//		return dsl.To[dsl.F32](x).FMA(scales[c.LocalRow], sum)
//	})
func Promote[C, D Scalar](total *WarpTile[C], part *WarpTile[D],
	f func(c Cell, sum Reg[C], x Reg[D]) Reg[C]) {
	if !checkCreated(total.kernel(), "accumulator in Promote", part.kernel()) ||
		!checkCreated(part.kernel(), "accumulator in Promote", total.kernel()) ||
		!total.k.checkFunctions("Promote", f != nil) {
		return
	}
	k := total.k
	switch {
	case part.k != k:
		k.fault(&ruleForeign,
			"accumulator of kernel %s is promoted into an accumulator of kernel %s", part.k.Name(),
			k.Name())
		return
	case total.rows != part.rows || total.cols != part.cols || total.shape.M != part.shape.M ||
		total.shape.N != part.shape.N:
		k.fault(&ruleShape,
			"accumulator of %dx%d with %s is promoted into %dx%d with %s, expected the same shape and layout",
			part.rows, part.cols, part.shape, total.rows, total.cols, total.shape)
		return
	}
	pairs := part.pairs()
	total.visit(func(c Cell, cell []Reg[C], n int) {
		x, y := total.pair(cell, n)
		u, v := part.pair(part.regs[c.LocalRow/pairs][c.col/part.shape.N], n)
		next := c
		next.col++
		total.put(cell, n, f(c, x, u), f(next, y, v))
	})
}

// PromoteAccumulator combines wgmma accumulators as Promote does: total has elements of F32, part
// of type T. The MMAs into part must be complete; see [Accumulator.Wait].
func PromoteAccumulator[T Scalar](total, part *Accumulator,
	f func(c Cell, sum Reg[F32], x Reg[T]) Reg[F32]) {
	if !checkCreated(total.kernel(), "accumulator in PromoteAccumulator", part.kernel()) ||
		!checkCreated(part.kernel(), "accumulator in PromoteAccumulator", total.kernel()) ||
		!total.k.checkFunctions("PromoteAccumulator", f != nil) {
		return
	}
	k := total.k
	switch {
	case part.k != k:
		k.fault(&ruleForeign,
			"accumulator of kernel %s is promoted into an accumulator of kernel %s", part.k.Name(),
			k.Name())
		return
	case part.typ != TypeOf[T]() || part.typ == isa.F16:
		k.fault(&ruleShape,
			"accumulator of %s is promoted as %s, expected its element type, .f32 or .s32",
			part.typ, TypeOf[T]())
		return
	case total.rows != part.rows || total.cols != part.cols:
		k.fault(&ruleShape, "accumulator of %dx%d is promoted into %dx%d, expected the same shape",
			part.rows, part.cols, total.rows, total.cols)
		return
	}
	if total.typ == isa.F32 {
		part.checkRead()
	}
	total.visit("PromoteAccumulator", func(c Cell, regs []*ir.Reg) {
		from := part.regs[c.LocalRow/2][c.col/8*4+c.LocalRow%2*2:]
		for i, r := range regs {
			at, sum := c, total.sum(r)
			at.col += i
			assign(sum, f(at, sum, Reg[T]{k: k, r: from[i], scope: part.used.scope}))
		}
	})
}
