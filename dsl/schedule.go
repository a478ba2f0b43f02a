// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "iter"

// A Schedule deals the tiles of a result out to the blocks of a grid that stays on the machine until all are done.
type Schedule struct {
	k          *Kernel
	rows, cols Reg[U32] // tiles
	group      int
}

// Tiles are a Schedule or a Dynamic, where a kernel is built for either.
type Tiles interface {
	Each() iter.Seq[TileAt]
}

// A TileAt is where a tile stands, counted in tiles.
type TileAt struct{ Row, Col Reg[U32] }

// Persistent is a schedule over so many rows and columns of tiles. Tiles are dealt in groups of so many rows, column by
// column, so that blocks that run at the same time share what they read through the L2 cache. The blocks of a cluster get neighbouring tiles: those along its x
// tiles of neighbouring rows, those along its y of neighbouring columns; the grid has whole clusters, and where the tiles do not come out even, some lie outside.
func (k *Kernel) Persistent(rows, cols Reg[U32], group int) *Schedule {
	k = k.sound()
	if group < 1 {
		k.fault(&ruleProtocol, "groups of %d rows of tiles; a positive number is expected", group)
		group = 1
	}
	k.schedules++
	return &Schedule{k: k, rows: rows.kept(), cols: cols.kept(), group: group}
}

// Each is the tiles of the block, one a turn.
func (s *Schedule) Each() iter.Seq[TileAt] {
	return func(yield func(TileAt) bool) {
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
			first, step, cols = k.CTAID().Y.DivI(wide).Mad(step, first), step.Mul(k.NCTAID().Y.DivI(wide)), cols.CeilDiv(wide)
		}
		total := rows.Mul(cols)
		for id := range k.RangeStep(first, total, step) {
			tile, on := k.dealt(k.inCluster(grouped(id, rows, cols, s.group))), false
			if k.m.calls.run(func() { on = yield(tile) }); !on {
				k.fault(&ruleLoop, "a Go break or return left the body of Each, which is built once")
				return
			}
		}
	}
}

// clusterTiles is how many rows and columns of tiles the blocks of a cluster work on.
func (k *Kernel) clusterTiles() (high, wide int64) {
	if k.cluster[2] > 1 {
		k.fault(&ruleProtocol, "tiles are dealt to clusters of %d x %d x %d blocks; two dimensions are expected", k.cluster[0], k.cluster[1], k.cluster[2])
	}
	return int64(max(1, k.cluster[0])), int64(max(1, k.cluster[1]))
}

// inCluster is the tile of the block among those of its cluster.
func (k *Kernel) inCluster(at TileAt) TileAt {
	high, wide := k.clusterTiles()
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

// Grouped is the tile of the block in a grid with a block for each tile, numbered along x: as Persistent deals them, in groups of
// so many rows.
func (k *Kernel) Grouped(rows, cols Reg[U32], group int) TileAt {
	k = k.sound()
	if group < 1 {
		k.fault(&ruleProtocol, "groups of %d rows of tiles; a positive number is expected", group)
		group = 1
	}
	k.schedules++
	return k.dealt(grouped(k.CTAID().X, rows, cols, group))
}

// grouped is the tile of a number. Within a group of rows, tiles go down the rows first. The last group may have fewer.
func grouped(id, rows, cols Reg[U32], group int) TileAt {
	if group == 1 {
		row := id.Div(cols)
		return TileAt{Row: row, Col: id.Sub(row.Mul(cols))}
	}
	span := cols.MulI(int64(group))
	g := id.Div(span)
	base := g.MulI(int64(group))
	height := rows.Sub(base).MinI(int64(group))
	in := id.Sub(g.Mul(span))
	col := in.Div(height)
	return TileAt{Row: base.Add(in.Sub(col.Mul(height))), Col: col}
}
