// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
)

// shape returns the shape of the tile as an annotation.
func (t SharedTile) shape() ir.TileShape {
	return ir.TileShape{Type: t.Type, Rows: t.Rows, Cols: t.Cols, Swizzle: int(t.Swizzle),
		Padded: t.Padded, Transposed: t.turned}
}

// position returns a row or a column as an operand of an annotation.
func position(x Reg[U32]) ir.Operand {
	if x.r == nil {
		return ir.Operand{Kind: ir.Int, Value: x.bits}
	}
	return ir.Operand{Kind: ir.Register, Reg: x.r}
}

// takes records an access to n rows of a tile, or to n of limit other units, starting at a computed
// row.
//
//go:noinline
func (t SharedTile) takes(from Reg[U32], n, limit int, unit ir.Unit) {
	k := t.at.k
	if r := k.role; r != nil && from.r == r.index.r && n == 1 && r.each > 0 && limit >= r.n/r.each {
		return // each warp of the role usually has its own rows
	}
	if from.k != k || from.r == nil {
		return
	}
	if pos := k.m.calls.Here(); k.annotates(pos, "") {
		k.annotate(pos,
			&ir.TileAccess{Tile: t.shape(), Unit: unit, Reg: from.r, N: int64(n),
				Limit: int64(limit)})
	}
}

// storesTile records a store of an accumulator to a matrix.
//
//go:noinline
func (k *Kernel) storesTile(matrix ir.Ref, to Addr, row, col Reg[U32], rows, cols, threads int) {
	if row.k != k || col.k != k {
		return
	}
	if pos := k.m.calls.Here(); k.annotates(pos, "") {
		k.annotate(pos,
			&ir.TileStore{Matrix: matrix, To: to.reg, Row: position(row), Col: position(col),
				Rows: rows, Cols: cols, Threads: threads})
	}
}

// dealt records the position of the block's tile.
func (k *Kernel) dealt(at TileCoord) TileCoord {
	if at.Row.r != nil && at.Col.r != nil {
		k.notes.Corners = append(k.notes.Corners, ir.TileCorner{Row: at.Row.r, Col: at.Col.r})
	}
	return at
}

// mostShared is the maximum number of accesses to shared memory that are annotated.
const mostShared = 96

// touches records an access to shared memory outside of roles, which have barriers of their own.
func (k *Kernel) touches(a Addr, bytes int64, writes bool) {
	if k.role != nil || k.parted || !k.f.Kernel || k.BlockThreads() <= 32 ||
		len(k.notes.Shared) >= mostShared {
		return
	}
	k.held = max(k.held, len(k.conds))
	k.notes.Shared = append(k.notes.Shared,
		ir.SharedAccess{Pos: k.m.calls.Caller(), Conds: k.conds, Var: a.v, Reg: a.reg,
			Offset: a.off,
			Bytes:  bytes, Writes: writes})
	k.touched = append(k.touched, k.order.Count())
}

// locateShared finds the instruction of each access to shared memory: the first that was created
// after the access was recorded, apart from those at the head of the kernel.
func (k *Kernel) locateShared() {
	head := make(map[*ir.Instr]bool)
	for _, in := range k.head.Instrs {
		head[in] = true
	}
	n, i := 0, 0
	for in := range k.order.All() {
		for ; i < len(k.touched) && k.touched[i] <= n && !head[in]; i++ {
			k.notes.Shared[i].In = in
		}
		if i == len(k.touched) {
			return
		}
		n++
	}
	k.notes.Shared = k.notes.Shared[:i] // no instruction was emitted for the other accesses
}
