// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// StoreShared writes the accumulator to rows of a tile in shared memory, which the TMA can then
// store or reduce. The first row must be a multiple of eight. The tile must have the accumulator's
// element type and number of columns.
func (w *WarpTile[C]) StoreShared(to SharedTile, from Reg[U32]) {
	if !checkCreated(w.kernel(), "accumulator in StoreShared", to.at.k) {
		return
	}
	k, s := w.k, w.shape
	switch {
	case to.at.k == nil:
		k.fault(&ruleValue, "tile in StoreShared is a zero value, not created by a builder call")
		return
	case to.Type != s.C || to.Cols != w.cols || to.Rows < w.rows:
		k.fault(&ruleShape, "accumulator of %dx%d %s does not match the shared tile %s", w.rows,
			w.cols, s.C, to.Tile)
		return
	}
	if !checkRows(k, to, from, w.rows) {
		return
	}
	bytes := s.C.Bits() / 8
	lane := k.Lane()
	row := from.Add(lane.ShrI(2))
	// The rows of a lane are multiples of eight apart, so they have the same swizzle.
	pair := lane.AndI(3).MulI(int64(2 * bytes))
	if mask := to.Swizzle.mask(); mask != 0 {
		pair = pair.Xor(row.MulI(int64(to.Pitch())).ShrI(3).AndI(int64(mask)))
	}
	at := to.at.add(row.MulI(int64(to.Pitch())))
	for j := range w.cols / s.N {
		b := j * s.N * bytes
		here := at
		if to.Swizzle == NoSwizzle {
			here = at.add(pair).Plus(int64(b))
		} else {
			slab, in := b/int(to.Swizzle), b%int(to.Swizzle)
			here = at.add(pair.XorI(int64(in))).Plus(int64(slab * to.SlabBytes()))
		}
		for i := range w.regs {
			for h := range w.pairs() {
				x, y := w.pair(w.regs[i][j], h)
				Array[C]{at: here.Plus(int64((i*s.M + h*8) * to.Pitch()))}.StoreFirstVec(
					[]Reg[C]{x, y})
			}
		}
	}
}
