// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"iter"

	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
)

// A Schedule assigns output tiles to the blocks of a persistent grid, in which each block
// computes several tiles.
type Schedule struct {
	k          *Kernel
	rows, cols Reg[U32] // number of tiles
	group      int
}

// Tiles is implemented by Schedule, BalancedSchedule and DynamicSchedule, for kernels that support
// several of them.
type Tiles interface {
	Each() iter.Seq[TileCoord]
}

// A TileCoord is the position of a tile in a matrix, in units of tiles. Positions in units of
// elements are passed as two values, row and col.
type TileCoord struct{ Row, Col Reg[U32] }

// TileAt returns the TileCoord for a row and a column of tiles.
func TileAt(row, col Reg[U32]) TileCoord { return TileCoord{Row: row, Col: col} }

// Persistent returns a schedule over rows by cols tiles, for a persistent grid. Tiles are
// assigned in groups of the given number of tile rows, column by column within the group, so that
// concurrent blocks share operands in the L2 cache. The blocks of a cluster get adjacent tiles:
// those along x tiles in adjacent rows, those along y tiles in adjacent columns. The grid must
// consist of whole clusters. If the cluster size does not divide the number of tiles, some tiles
// lie outside the matrix.
func (k *Kernel) Persistent(rows, cols Reg[U32], group int) *Schedule {
	k = k.sound()
	group = k.checkGroup(group)
	k.notes.Schedules++
	return &Schedule{k: k, rows: rows.snapshot(), cols: cols.snapshot(), group: group}
}

// Each returns a loop over the tiles that the schedule assigns to the block.
func (s *Schedule) Each() iter.Seq[TileCoord] {
	return func(yield func(TileCoord) bool) {
		if s == nil || s.k == nil {
			return
		}
		k := s.k
		first, step := k.CTAID().X, k.NCTAID().X
		rows, cols := s.rows, s.cols
		high, wide := k.clusterTiles()
		if high > 1 {
			first, step, rows = first.DivI(high), step.DivI(high), rows.CeilDiv(high)
		}
		if wide > 1 {
			first, step, cols = k.CTAID().Y.DivI(wide).Mad(step, first),
				step.Mul(k.NCTAID().Y.DivI(wide)), cols.CeilDiv(wide)
		}
		total := rows.Mul(cols)
		for id := range k.RangeStep(first, total, step) {
			tile, on := k.annotateTileCorner(k.tileInCluster(groupedTile(id, rows, cols, s.group))),
				false
			if k.m.calls.Run(func() { on = yield(tile) }); !on {
				k.fault(&ruleLoop,
					"Go break or return leaves the body of Each, which is built only once")
				return
			}
		}
	}
}

// A BalancedSchedule is a Schedule for columns with different amounts of work.
type BalancedSchedule struct {
	pairs   *Schedule
	cols    Reg[U32]
	growing bool
}

// PersistentBalanced is Persistent for tiles whose work grows from the first column to the last, or
// shrinks if growing is not set, as in causal attention. The first column of a row is assigned
// together with the last, the second with the last but one, and so on. Of both, the tile with more
// work comes first. The kernel must not have clusters.
func (k *Kernel) PersistentBalanced(rows, cols Reg[U32], group int,
	growing bool) *BalancedSchedule {
	k = k.sound()
	if n := k.clusterSize(); n > 1 {
		k.fault(&ruleProtocol,
			"PersistentBalanced is used in a cluster of %d blocks, expected no cluster", n)
	}
	return &BalancedSchedule{pairs: k.Persistent(rows, cols.CeilDiv(2), group),
		cols: cols.snapshot(), growing: growing}
}

// Each returns a loop over the tiles that the schedule assigns to the block.
func (s *BalancedSchedule) Each() iter.Seq[TileCoord] {
	return func(yield func(TileCoord) bool) {
		if s == nil || s.pairs == nil {
			return
		}
		k := s.pairs.k
		for at := range s.pairs.Each() {
			first, second := at.Col, s.cols.SubI(1).Sub(at.Col)
			count := Select(second.EQ(first), k.U32(1), k.U32(2))
			if s.growing {
				first, second = second, first
			}
			for i := range k.Range(k.U32(0), count) {
				at.Col = Select(i.EQI(0), first, second)
				if !yield(at) {
					return // the loops report it
				}
			}
		}
	}
}

// clusterTiles returns the size of the group of tiles that a cluster computes: its rows and
// columns of tiles.
func (k *Kernel) clusterTiles() (high, wide int64) {
	if k.cluster[2] > 1 {
		k.fault(&ruleProtocol,
			"schedule is used in a cluster of %d x %d x %d blocks, expected at most two dimensions",
			k.cluster[0], k.cluster[1], k.cluster[2])
	}
	return int64(max(1, k.cluster[0])), int64(max(1, k.cluster[1]))
}

// tileInCluster returns the tile of the block, given the position of the cluster in units of tile
// groups.
func (k *Kernel) tileInCluster(at TileCoord) TileCoord {
	high, wide := k.clusterTiles()
	if high == 1 && wide == 1 { // the target may lack clusters
		return at
	}
	up, left := k.ClusterRank(), k.U32(0)
	if wide > 1 {
		up, left = up.RemI(high), up.DivI(high)
	}
	if high > 1 {
		at.Row = at.Row.MadI(high, up)
	}
	if wide > 1 {
		at.Col = at.Col.MadI(wide, left)
	}
	return at
}

// BlockTile returns the tile of the block in a grid with one block per tile along x. Tiles are
// assigned in groups of the given number of tile rows, as Persistent does.
func (k *Kernel) BlockTile(rows, cols Reg[U32], group int) TileCoord {
	k = k.sound()
	group = k.checkGroup(group)
	k.notes.Schedules++
	return k.annotateTileCorner(groupedTile(k.CTAID().X, rows, cols, group))
}

// checkGroup returns the number of tile rows in a group. It reports a number below 1 and returns 1
// instead.
func (k *Kernel) checkGroup(group int) int {
	if group >= 1 {
		return group
	}
	k.fault(&ruleProtocol, "schedule has groups of %d rows of tiles, expected a positive number",
		group).withFix(source.ReplaceInt(int64(group), 1))
	return 1
}

// groupedTile returns the tile with index id. Within a group of tile rows, indices increase down
// the columns. The last group may have fewer rows.
func groupedTile(id, rows, cols Reg[U32], group int) TileCoord {
	if group == 1 {
		row := id.Div(cols)
		return TileCoord{Row: row, Col: id.Sub(row.Mul(cols))}
	}
	span := cols.MulI(int64(group))
	g := id.Div(span)
	base := g.MulI(int64(group))
	height := rows.Sub(base).MinI(int64(group))
	in := id.Sub(g.Mul(span))
	col := in.Div(height)
	return TileCoord{Row: base.Add(in.Sub(col.Mul(height))), Col: col}
}
