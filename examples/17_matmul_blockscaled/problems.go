// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"iter"

	"github.com/ptxdsl/ptxdsl/dsl"
)

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
	k       *dsl.Kernel
	rows    dsl.Reg[dsl.U32] // number of rows of D
	each    func() iter.Seq[tile]
	dynamic *dsl.DynamicSchedule
}

// tiles returns the schedule of a launch. For Batched and Grouped, it also declares their
// parameters.
func (t Tiling) tiles(k *dsl.Kernel, rows, cols dsl.Reg[dsl.U32]) *tiles {
	across := cols.CeilDiv(int64(t.N))
	if t.Problems == Grouped {
		return t.groups(k, rows, across)
	}
	s := &tiles{k: k, rows: rows}
	down, all := rows.CeilDiv(128), rows.CeilDiv(128)
	if t.Problems == Batched {
		high := int64(t.blocks())
		down = rows.CeilDiv(128 * high).MulI(high)
		all = down.Mul(dsl.Param[dsl.U32](k, "problems"))
		s.rows = all.MulI(128)
		if t.N < 128 { // an atom of scale factors covers two tiles
			across = cols.CeilDiv(128).MulI(2)
		}
	}
	var schedule dsl.Tiles
	if t.Dynamic {
		s.dynamic = k.DynamicSchedule(all, across, t.Group)
		schedule = s.dynamic
	} else {
		schedule = k.Persistent(all, across, t.Group)
	}
	s.each = func() iter.Seq[tile] {
		return func(yield func(tile) bool) {
			for at := range schedule.Each() {
				right := at.Col
				if t.Problems == Batched {
					right = at.Row.Div(down).Mad(across, at.Col)
				}
				if !yield(tile{row: at.Row, col: at.Col, right: right}) {
					return
				}
			}
		}
	}
	return s
}

// groups returns the schedule for Grouped.
func (t Tiling) groups(k *dsl.Kernel, rows, across dsl.Reg[dsl.U32]) *tiles {
	starts, groups := dsl.Global[dsl.U32](k, "starts"), dsl.Param[dsl.U32](k, "groups")
	if t.N < 128 {
		across = across.CeilDiv(2).MulI(2)
	}
	schedule := k.PersistentGroups(starts, groups, 128, across, t.Group)
	return &tiles{k: k, rows: rows, each: func() iter.Seq[tile] {
		return func(yield func(tile) bool) {
			for at := range schedule.Each() {
				if !yield(tile{row: at.TileRow(), col: at.TileCol,
					right: at.Group.Mad(across, at.TileCol), first: at.FirstRow, end: at.EndRow}) {
					return
				}
			}
		}
	}}
}

// roles returns the role of the scheduler warp, if the hardware assigns tiles.
func (s *tiles) roles() []dsl.Role {
	if s.dynamic == nil {
		return nil
	}
	return []dsl.Role{dsl.OnWarp(3, "schedule", s.dynamic.RunScheduler)}
}
