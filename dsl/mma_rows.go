// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// ScaleRows multiplies each row by a factor, of which there is one for each of the LocalRows.
func (w *WarpTile[C]) ScaleRows(factors []Reg[C]) {
	if !checkCreated(w.kernel(), "accumulator in ScaleRows") ||
		!w.k.checkFactors(len(factors), w.LocalRows()) {
		return
	}
	w.Map(func(c Cell, x Reg[C]) Reg[C] { return x.Mul(factors[c.LocalRow]) })
}

// Mask replaces the elements for which keep is false by a value.
func (w *WarpTile[C]) Mask(keep func(c Cell) Reg[Pred], other Reg[C]) {
	if !checkCreated(w.kernel(), "accumulator in Mask", other.k) ||
		!w.k.checkFunctions("Mask", keep != nil) {
		return
	}
	w.Map(func(c Cell, x Reg[C]) Reg[C] { return Select(keep(c), x, other) })
}

// ScaleRows multiplies each row by a factor, of which there is one for each of the LocalRows.
func (a *Accumulator) ScaleRows(factors []Reg[F32]) {
	if !checkCreated(a.kernel(), "accumulator in ScaleRows") ||
		!a.k.checkFactors(len(factors), a.LocalRows()) {
		return
	}
	a.Map(func(c Cell, x Reg[F32]) Reg[F32] { return x.Mul(factors[c.LocalRow]) })
}

// Mask replaces the elements for which keep is false by a value.
func (a *Accumulator) Mask(keep func(c Cell) Reg[Pred], other Reg[F32]) {
	if !checkCreated(a.kernel(), "accumulator in Mask", other.k) ||
		!a.k.checkFunctions("Mask", keep != nil) {
		return
	}
	a.Map(func(c Cell, x Reg[F32]) Reg[F32] { return Select(keep(c), x, other) })
}

// checkFactors reports whether ScaleRows has a factor for each local row, and records a finding if
// not.
func (k *Kernel) checkFactors(n, localRows int) bool {
	if n != localRows {
		k.fault(&ruleShape, "ScaleRows has %d factors, but the thread has elements of %d rows", n,
			localRows)
	}
	return n == localRows
}
