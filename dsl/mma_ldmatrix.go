// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// LoadMatrices loads four 8x8 matrices of 16-bit elements as fragments of mma.sync (ldmatrix,
// sm_75). Each lane specifies one row of a matrix by its row in the tile, and by its offset in
// units of 16 bytes. Lanes 0 to 7 specify the first matrix, lanes 8 to 15 the second, and so on.
// With the modifier Trans each matrix is transposed.
func (t SharedTile) LoadMatrices(row, unit Reg[U32], mods ...Mod) (list [4]Reg[B32]) {
	k := t.at.k
	if k == nil {
		return list
	}
	k.annotateCollective("LoadMatrices", false)
	if unit.IsConstant() && (unit.bits < 0 || unit.bits*16 >= int64(t.RowBytes())) {
		k.fault(&ruleShape, "16-byte unit %d is out of bounds: a row of %s has %d of them",
			unit.bits, t.Tile, t.RowBytes()/16)
		return list
	}
	t.annotateRows(row, 1, t.Rows, ir.Row)
	t.annotateRows(unit, 1, t.RowBytes()/16, ir.Chunk)
	r := t.reader(row, unit)
	into := k.cell(4, isa.B32)
	k.ldmatrix(into, r.row.add(r.unit), mods...)
	copy(list[:], values(k, into))
	return list
}

// StoreMatrices stores four 8x8 matrices of 16-bit elements (stmatrix, sm_90). Each lane
// specifies one row, as in LoadMatrices.
func (t SharedTile) StoreMatrices(row, unit Reg[U32], fragments [4]Reg[B32], mods ...Mod) {
	k := t.at.k
	if k == nil {
		if f := fragments[0]; f.k != nil {
			f.k.fault(&ruleValue,
				"tile in StoreMatrices is a zero value, not created by a builder call")
		}
		return
	}
	k.annotateWarpOperation("StoreMatrices")
	regs := make([]ir.Operand, len(fragments))
	for i, f := range fragments {
		regs[i] = f.register().in(k)
	}
	t.annotateRows(row, 1, t.Rows, ir.Row)
	t.annotateRows(unit, 1, t.RowBytes()/16, ir.Chunk)
	r := t.reader(row, unit)
	k.ins("stmatrix.sync.aligned.m8n8.x4"+dotMods(mods)+".shared.b16", r.row.add(r.unit).in(k),
		k.list(ir.Vector, regs))
}

// ldmatrix loads two or four 8x8 matrices of 16-bit elements into as many registers. Each lane
// supplies the address of one row; for two matrices, the addresses of lanes 16 to 31 are ignored.
func (k *Kernel) ldmatrix(into []ir.Operand, at Addr, mods ...Mod) {
	k.ins("ldmatrix.sync.aligned.m8n8.x"+strconv.Itoa(len(into))+dotMods(mods)+".shared.b16",
		k.vector(into...), at.in(k))
}

// fragment loads a fragment of a tile with ldmatrix. Padded elements occupy one byte each. 4-bit
// elements arrive in the low bits of the byte and are moved to the middle bits, where mma.sync
// expects them.
func (t SharedTile) fragment(into []ir.Operand, at Addr) {
	k := t.at.k
	switch {
	case t.elementBits() == t.Type.Bits():
		k.ldmatrix(into, at)
	case t.Type.Bits() == 6:
		k.ins("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32", k.vector(into...), at.in(k))
	default:
		k.ins("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64", k.vector(into...), at.in(k))
		for _, x := range into {
			k.ins("shl.b32", x, x, number(2))
		}
	}
}
