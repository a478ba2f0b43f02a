// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

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

// At returns two adjacent elements as F32, of those that [Accumulator.At] returns for the
// accumulator that became the fragments. They are converted again in each call, which takes fewer
// registers than keeping the accumulator.
func (f *Fragments) At(part, group int, lower bool) (x, y Reg[F32]) {
	if f == nil || f.k == nil {
		return x, y
	}
	i := group % 2 * 2
	if lower {
		i++
	}
	if part < 0 || group < 0 || group/2 >= len(f.regs) || part >= len(f.regs[group/2]) ||
		i >= len(f.regs[group/2][part]) || f.typ.Bits() != 16 {
		f.k.fault(&ruleShape,
			"out of bounds: part %d has columns %d to %d, but the fragments are %dx%d %s", part,
			8*group, 8*group+7, f.rows, f.cols, f.typ)
		return f.k.F32(0), f.k.F32(0)
	}
	both := f.k.unpackWord(f.typ, f.regs[group/2][part][i].in(f.k))
	return both[0], both[1]
}

// Pair returns the elements at c and in the next column, as At does, where c is a cell of the
// accumulator.
func (f *Fragments) Pair(c Cell) (x, y Reg[F32]) {
	return f.At(c.LocalRow/2, c.col/8, c.LocalRow%2 == 1)
}

// StoreShared writes fragments of 64 rows, made by [Accumulator.ToFragments], to a tile in shared
// memory with stmatrix (sm_90). Each warp of the warpgroup writes its sixteen rows. The tile must
// have a swizzle of 128 bytes, and can then be an operand of MMAs, also a Transposed one. All
// threads that write must call FenceAsync before the barrier after which the MMAs start.
func (f *Fragments) StoreShared(to SharedTile) {
	if f == nil || !checkCreated(f.k, "fragments in StoreShared", to.at.k) {
		return
	}
	k := f.k
	switch {
	case to.at.k == nil:
		k.fault(&ruleValue, "tile in StoreShared is a zero value, not created by a builder call")
		return
	case f.rows != 64 || to.Rows != 64 || to.Cols != f.cols || to.Type != f.typ || f.each != 16 ||
		f.typ.Bits() != 16 || to.Swizzle != Swizzle128 || to.isTransposed:
		k.fault(&ruleShape,
			"fragments of %dx%d %s do not match the shared tile %s, expected 64 rows of a 16-bit type and a swizzle of 128 bytes",
			f.rows, f.cols, f.typ, to)
		return
	}
	k.annotateWarpOperation("StoreShared")
	lane := k.Lane()
	// the first of two units of eight columns, and a lane of each eight for every row; matrices 1
	// and 3 are the lower rows, 2 and 3 the second unit
	row := k.WarpIndex().AndI(3).ShlI(4).Add(lane.AndI(15))
	unit := lane.ShrI(4).Xor(lane.AndI(7)).ShlI(4)
	at := to.Addr().add(row.MulI(int64(to.Pitch())))
	for step, cells := range f.regs {
		slab, in := step*32/128, step*32%128
		regs := make([]ir.Operand, 4)
		for i, r := range cells[0] {
			regs[i] = r.in(k)
		}
		k.ins("stmatrix.sync.aligned.m8n8.x4.shared.b16",
			at.Plus(int64(slab*to.SlabBytes())).add(unit.XorI(int64(in))).in(k),
			k.list(ir.Vector, regs))
	}
}
