// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
)

// shape returns the type, size, swizzle and transposition of the tile, for annotations.
func (t SharedTile) shape() ir.TileShape {
	return ir.TileShape{Type: t.Type, Rows: t.Rows, Cols: t.Cols, Swizzle: int(t.Swizzle),
		Padded: t.Padded, Transposed: t.isTransposed}
}

// position returns a row or column index as an operand, for annotations.
func position(x Reg[U32]) ir.Operand {
	if x.r == nil {
		return ir.Operand{Kind: ir.Int, Value: x.bits}
	}
	return ir.Operand{Kind: ir.Register, Reg: x.r}
}

// annotateRows records an access to n rows of a tile, starting at the computed row from. For
// other units than rows, such as tiles of an array, limit is the number of units that exist.
//
//go:noinline
func (t SharedTile) annotateRows(from Reg[U32], n, limit int, unit ir.Unit) {
	k := t.at.k
	if r := k.role; r != nil && from.r == r.index.r && n == 1 && r.each > 0 && limit >= r.n/r.each {
		return // each warp of the role usually has its own rows
	}
	if from.k != k || from.r == nil {
		return
	}
	if pos := k.m.calls.Here(); k.shouldAnnotate(pos, "") {
		k.annotate(pos,
			&ir.TileAccess{Tile: t.shape(), Unit: unit, Reg: from.r, N: int64(n),
				Limit: int64(limit)})
	}
}

// annotateTileStore records that threads store an accumulator of rows by cols elements to a
// matrix at the address to, with its first element at row and col.
//
//go:noinline
func (k *Kernel) annotateTileStore(matrix ir.Ref, to Addr, row, col Reg[U32],
	rows, cols, threads int) {
	if row.k != k || col.k != k {
		return
	}
	if pos := k.m.calls.Here(); k.shouldAnnotate(pos, "") {
		k.annotate(pos,
			&ir.TileStore{Matrix: matrix, To: to.reg, Row: position(row), Col: position(col),
				Rows: rows, Cols: cols, Threads: threads})
	}
}

// annotateTileCorner records the registers that hold the position of the block's tile, and
// returns the position.
func (k *Kernel) annotateTileCorner(at TileCoord) TileCoord {
	if at.Row.r != nil && at.Col.r != nil {
		k.notes.Corners = append(k.notes.Corners, ir.TileCorner{Row: at.Row.r, Col: at.Col.r})
	}
	return at
}

// maxSharedNotes is the maximum number of annotated accesses to shared memory.
const maxSharedNotes = 96

// annotateSharedAccess records an access to shared memory. Accesses in roles are not recorded,
// because roles synchronize with mbarriers.
func (k *Kernel) annotateSharedAccess(a Addr, bytes int64, writes bool) {
	if k.role != nil || k.isDivergent || !k.f.Kernel || k.BlockThreads() <= 32 ||
		len(k.notes.Shared) >= maxSharedNotes {
		return
	}
	k.sharedConds = max(k.sharedConds, len(k.conds))
	k.notes.Shared = append(k.notes.Shared,
		ir.SharedAccess{Pos: k.m.calls.Caller(), Conds: k.conds, Var: a.v, Reg: a.reg,
			Offset: a.off,
			Bytes:  bytes, Writes: writes})
	k.sharedNoteIndex = append(k.sharedNoteIndex, k.order.Count())
}

// locateShared finds the instruction of each annotated access to shared memory: the first
// instruction that was created after the access was recorded. Instructions at the head of the
// kernel are skipped.
func (k *Kernel) locateShared() {
	head := make(map[*ir.Instr]bool)
	for _, in := range k.head.Instrs {
		head[in] = true
	}
	n, i := 0, 0
	for in := range k.order.All() {
		for ; i < len(k.sharedNoteIndex) && k.sharedNoteIndex[i] <= n && !head[in]; i++ {
			k.notes.Shared[i].In = in
		}
		if i == len(k.sharedNoteIndex) {
			return
		}
		n++
	}
	k.notes.Shared = k.notes.Shared[:i] // no instruction was emitted for the other accesses
}
