// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "iter"

// A GroupSchedule assigns the tiles of a grouped GEMM, such as the experts of a
// mixture-of-experts layer, to the blocks of a persistent grid. The row counts of the groups are
// read from device memory, so the host does not need them at launch.
type GroupSchedule struct {
	k         *Kernel
	starts    Array[U32]
	groups    Reg[U32]
	height    int
	cols      Reg[U32] // number of columns of tiles
	groupRows int
}

// A GroupTile is a tile of a group. FirstRow and EndRow are row indices over all groups: the tile
// starts at FirstRow, and the group ends before EndRow, which may be inside the tile. TileCol is
// the column of the tile, in units of tiles.
type GroupTile struct {
	Group, FirstRow, EndRow, TileCol Reg[U32]

	row func() Reg[U32]
}

// TileRow returns the row of the tile in units of tiles, counted over all groups. Each group starts
// with a new row of tiles, as in operands whose groups are padded to whole tiles. Call TileRow in
// the body of Each, where all lanes of the warp execute it.
func (t GroupTile) TileRow() Reg[U32] {
	if t.row == nil {
		return Reg[U32]{}
	}
	return t.row()
}

// PersistentGroups returns a schedule for a grouped GEMM whose groups are stored one after the
// other: group i has the rows from starts[i] up to starts[i+1], which are divided into tiles of
// the given height and cols columns of tiles. Within a group, together tile rows are assigned at
// a time, as Persistent does. A group may be empty. Whole warps must execute the loop.
//
//	tiles := k.PersistentGroups(starts, experts, 128, n.CeilDiv(256), 8)
//	for at := range tiles.Each() {
//		...
//	}
func (k *Kernel) PersistentGroups(starts Array[U32], groups Reg[U32], height int, cols Reg[U32],
	together int) *GroupSchedule {
	k = k.sound()
	if height < 1 || together < 1 {
		k.fault(&ruleProtocol,
			"PersistentGroups has tiles of %d rows and groups of %d rows of tiles, expected positive numbers",
			height, together)
		height, together = max(1, height), max(1, together)
	}
	if n := k.clusterSize(); n > 1 {
		k.fault(&ruleProtocol,
			"PersistentGroups is used in a cluster of %d blocks, expected no cluster", n)
	}
	if starts.at.k == nil {
		k.fault(&ruleValue,
			"array starts of PersistentGroups is a zero value, not created by a builder call")
		return nil
	}
	return &GroupSchedule{k: k, starts: starts, groups: groups, height: height, cols: cols,
		groupRows: together}
}

// Each returns a loop over the tiles that the schedule assigns to the block. Each lane of the
// warp examines one of 32 groups, so that finding the group of a tile takes few instructions.
func (s *GroupSchedule) Each() iter.Seq[GroupTile] {
	return func(yield func(GroupTile) bool) {
		if s == nil || s.k == nil {
			return
		}
		k := s.k
		id, next, before := k.CTAID().X.Var(), k.U32(0).Var(), k.U32(0).Var()
		start, end, upto, total := k.U32(0).Var(), k.U32(0).Var(), k.U32(0).Var(), k.U32(0).Var()
		top, l := k.newBlock("tiles"), k.newLoop()
		k.place(top)
		k.inside("a loop over tiles", func() {
			k.While(func() Reg[Pred] { return id.Sub(before).GE(total).And(next.LT(s.groups)) },
				func() {
					k.Comment("each lane loads one of the next 32 groups: its rows, and the number of tiles up to its end")
					before.Set(before.Add(total))
					group := next.Add(k.Lane())
					start.Set(s.starts.Load(group.Min(s.groups)))
					end.Set(s.starts.Load(group.AddI(1).Min(s.groups)))
					tiles := end.Sub(start).CeilDiv(int64(s.height)).Mul(s.cols)
					upto.Set(tiles.WarpScan(func(a, b Reg[U32]) Reg[U32] { return a.Add(b) }))
					total.Set(upto.ShuffleFrom(k.U32(31)))
					next.Set(next.AddI(32))
				})
			in := id.Sub(before)
			k.BreakIf(in.GE(total))
			lane := k.Ballot(upto.GT(in)).TrailingZeros()
			first, last := start.ShuffleFrom(lane), end.ShuffleFrom(lane)
			rows := last.Sub(first).CeilDiv(int64(s.height))
			ahead := upto.ShuffleFrom(lane).Sub(rows.Mul(s.cols)) // first tile of the group
			in = in.Sub(ahead)
			at := groupedTile(in, rows, s.cols, s.groupRows)
			row := func() Reg[U32] { return before.Add(ahead).Div(s.cols).Add(at.Row) }
			if !yield(GroupTile{Group: next.SubI(32).Add(lane),
				FirstRow: at.Row.MadI(int64(s.height), first), EndRow: last, TileCol: at.Col,
				row: row}) {
				k.fault(&ruleLoop,
					"Go break or return leaves the body of Each, which is built only once")
			}
		})
		k.closeLoop(l, func() {
			id.Set(id.Add(k.NCTAID().X))
			k.branch(top)
		})
	}
}
