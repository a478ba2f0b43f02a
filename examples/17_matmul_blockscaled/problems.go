// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import "github.com/ptxdsl/ptxdsl/dsl"

// Problems specifies how many matrix products a launch computes.
type Problems int

const (
	OneProblem Problems = iota
	// Batched multiplies several pairs of matrices of the same size, which are stored one below
	// the other. Per problem, A and D have a multiple of 128 rows (256 for CTA pairs), and the
	// number of rows of B is a multiple of N and 128. Rows that pad a problem are computed too.
	Batched
	// Grouped multiplies each group of rows of A by a different matrix B, as the experts of a
	// mixture-of-experts layer do. Group i consists of the rows from starts[i] to starts[i+1]-1
	// of A and D, which the kernel reads from device memory. A group may have any number of rows,
	// also none. B is stored as for Batched. The scale factors of A and its sparsity indices are
	// padded: in them, each group starts with a new tile of 128 rows. The tensor map d and the
	// pointer out refer to the same matrix: the TMA stores whole tiles, and threads store the last
	// rows of a group. D has 16 or 32 bits, and no C.
	Grouped
)

// A tile is the position of a tile of D and of its operands, counted in tiles.
type tile struct {
	row   dsl.Reg[dsl.U32] // row of tiles in A, its scale factors, and D
	col   dsl.Reg[dsl.U32] // column of tiles in D
	right dsl.Reg[dsl.U32] // row of tiles in B and its scale factors
	// first row in A and D, and end of the group's rows; only for Grouped
	first, end dsl.Reg[dsl.U32]
}

// tiles is the schedule that assigns tiles to blocks.
type tiles struct {
	rows    dsl.Reg[dsl.U32]       // number of rows of D
	each    func(do func(at tile)) // calls do for each tile of a block
	dynamic *dsl.DynamicSchedule
}

// tiles returns the schedule of a launch. For Batched and Grouped, it also declares their
// parameters.
func (t Tiling) tiles(k *dsl.Kernel, rows, cols dsl.Reg[dsl.U32]) *tiles {
	if t.Problems != OneProblem && (t.N == 192 || t.ColumnsA || t.ColumnsB) {
		k.Errorf("several problems with %d columns per tile or stored by columns, expected 64, 128 or 256, stored by rows", t.N)
	}
	across := cols.CeilDiv(int64(t.N))
	switch t.Problems {
	case Batched:
		return t.batches(k, rows, cols, across)
	case Grouped:
		return t.groups(k, rows, across)
	}
	return t.schedule(k, rows, rows.CeilDiv(128), across,
		func(at dsl.TileCoord) tile { return tile{row: at.Row, col: at.Col, right: at.Col} })
}

// schedule returns the schedule of a grid of tiles, whose positions the function converts.
func (t Tiling) schedule(k *dsl.Kernel, rows, down, across dsl.Reg[dsl.U32],
	convert func(dsl.TileCoord) tile) *tiles {
	s := &tiles{rows: rows}
	var schedule dsl.Tiles = k.Persistent(down, across, t.Group)
	if t.Dynamic {
		s.dynamic = k.DynamicSchedule(down, across, t.Group)
		schedule = s.dynamic
	}
	s.each = func(do func(tile)) {
		for at := range schedule.Each() {
			do(convert(at))
		}
	}
	return s
}

// batches returns the schedule for Batched.
func (t Tiling) batches(k *dsl.Kernel, rows, cols, across dsl.Reg[dsl.U32]) *tiles {
	high := int64(t.blocks())
	down := rows.CeilDiv(128 * high).MulI(high)
	all := down.Mul(dsl.Param[dsl.U32](k, "problems"))
	if t.N < 128 { // an atom of scale factors covers two tiles
		across = cols.CeilDiv(128).MulI(2)
	}
	return t.schedule(k, all.MulI(128), all, across, func(at dsl.TileCoord) tile {
		return tile{row: at.Row, col: at.Col, right: at.Row.Div(down).Mad(across, at.Col)}
	})
}

// groups returns the schedule for Grouped.
func (t Tiling) groups(k *dsl.Kernel, rows, across dsl.Reg[dsl.U32]) *tiles {
	if t.Dynamic {
		k.Errorf("groups whose tiles the hardware assigns, expected tiles assigned in advance")
	}
	starts, groups := dsl.Global[dsl.U32](k, "starts"), dsl.Param[dsl.U32](k, "groups")
	if t.N < 128 {
		across = across.CeilDiv(2).MulI(2)
	}
	schedule := k.PersistentGroups(starts, groups, 128, across, t.Group)
	return &tiles{rows: rows, each: func(do func(tile)) {
		for at := range schedule.Each() {
			do(tile{row: at.TileRow(), col: at.TileCol, right: at.Group.Mad(across, at.TileCol),
				first: at.FirstRow, end: at.EndRow})
		}
	}}
}
