// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// This check finds pipelines that load data which no warp multiplies: most often a part of the
// block tile that the warp tiles do not cover.

// A coverage records which rows of one tile of a pipeline the MMAs of warps read.
type coverage struct {
	pipeline string
	other    bool // other code reads the tile, or may read it
	turned   bool
	rows     int // rows as an MMA operand; 0 before the first MMA
}

// coverages returns a coverage for each of the n tiles of a pipeline.
func coverages(pipeline string, n int) []coverage {
	list := make([]coverage, n)
	for i := range list {
		list[i].pipeline = pipeline
	}
	return list
}

// elsewhere records that other code reads the tile or a part of it.
func (c *coverage) elsewhere() {
	if c != nil {
		c.other = true
	}
}

// A taking is one MMA of a warp: the rows of the A tile and the rows of the B tile that it reads.
type taking struct {
	pos   ir.Pos
	conds []condition
	role  *role
	sides [2]side
}

// A side is n rows of an operand tile, starting at row from.
type side struct {
	of   *coverage
	tile Tile
	from Reg[U32]
	n    int
}

// side returns n rows of a tile. It is empty if the tile belongs to no pipeline.
func (t SharedTile) side(from Reg[U32], n int) side {
	c := t.cover
	if c == nil {
		return side{}
	}
	rows, _ := t.sides()
	if c.rows != 0 && (c.rows != rows || c.turned != t.turned) {
		c.other = true
	}
	c.rows, c.turned = rows, t.turned
	return side{c, t.Tile, from, n}
}

// what names the tile and its pipeline for messages.
func (s side) what() string { return s.tile.String() + " of pipeline " + s.of.pipeline }

// multiplied records the operands of an MMA of a warp.
func (k *Kernel) multiplied(a, b side) {
	if a.of == nil && b.of == nil {
		return
	}
	if k.parted || !k.f.Kernel || k.BlockThreads() == 0 || len(k.takings) >= maxDeferred/8 {
		a.of.elsewhere()
		b.of.elsewhere()
		return
	}
	k.held = max(k.held, len(k.conds))
	k.takings = append(k.takings, taking{k.m.calls.here(), k.conds, k.role, [2]side{a, b}})
}

// checkCovers reports rows of tiles that no warp multiplies, and pairs of rows of A and B that no
// warp multiplies.
func (k *Kernel) checkCovers(t *threadEval) {
	if len(k.takings) == 0 {
		return
	}
	t.setIteration(anyIteration)
	defer t.setIteration(firstTurn)
	var places [][]patch // patches of each taking
	for i := range k.takings {
		places = append(places, k.takings[i].patches(k, t))
	}
	seen, lacks := make(map[*coverage]bool), make(map[*coverage]bool)
	for i := range k.takings {
		for n, s := range k.takings[i].sides {
			if c := s.of; c != nil && !c.other && !seen[c] {
				seen[c] = true
				lacks[c] = k.checkRows(i, n, places)
			}
		}
	}
	clear(seen)
	for i := range k.takings {
		a, b := k.takings[i].sides[0].of, k.takings[i].sides[1].of
		if a == nil || b == nil || seen[a] || a.other || b.other || lacks[a] || lacks[b] {
			continue
		}
		seen[a] = true
		alone := !slices.ContainsFunc(k.takings, func(c taking) bool {
			return (c.sides[0].of == a) != (c.sides[1].of == b) || c.sides[0].of == b || c.sides[1].of == a
		})
		if alone {
			k.checkPairs(i, places)
		}
	}
}

// A patch holds the first rows of the two sides of a taking, for one warp.
type patch [2]int

// patches returns the patches of all warps that may execute the MMA. If one is unknown, the tiles
// are assumed to be covered.
func (c *taking) patches(k *Kernel, t *threadEval) (list []patch) {
	w := deferredCheck{role: c.role}
	for thread, end := w.threads(k); thread < end; thread += 32 {
		t.begin(thread)
		away := slices.ContainsFunc(c.conds, func(x condition) bool { v := t.holds(x); return v.kind == sure && v.n == 0 })
		if away {
			continue
		}
		var p patch
		for i, s := range c.sides {
			if s.of == nil {
				continue
			}
			v := worked{sure, s.from.bits}
			if !s.from.IsConstant() {
				v = t.value(s.from.r)
			}
			if v.kind != sure || v.n < 0 || v.n+int64(s.n) > int64(s.of.rows) {
				s.of.elsewhere() // or reported elsewhere
			}
			p[i] = int(min(max(v.n, 0), int64(s.of.rows)))
		}
		list = append(list, p)
	}
	return list
}

// checkRows reports rows of a tile that no warp multiplies.
func (k *Kernel) checkRows(first, n int, places [][]patch) bool {
	s := k.takings[first].sides[n]
	there := make([]bool, s.of.rows)
	for i := range k.takings {
		for n, x := range k.takings[i].sides {
			if x.of != s.of {
				continue
			}
			for _, p := range places[i] {
				for row := p[n]; row < min(p[n]+x.n, len(there)); row++ {
					there[row] = true
				}
			}
		}
	}
	from := slices.Index(there, false)
	if from < 0 || !slices.Contains(there, true) {
		return false
	}
	to := from
	for to+1 < len(there) && !there[to+1] {
		to++
	}
	k.doubt(k.takings[first].pos, "no warp computes the MMA of %s %d to %d of %s: the warp tiles, %d each, do not cover the tile", s.lines(), from, to, s.what(), s.n)
	return true
}

// lines returns "rows" or "columns": what the operand rows are in the tile.
func (s side) lines() string {
	if s.of.turned {
		return "columns"
	}
	return "rows"
}

// checkPairs reports pairs of rows of two tiles that no warp multiplies.
func (k *Kernel) checkPairs(first int, places [][]patch) {
	const unit = 8 // number of rows that are checked together
	a, b := k.takings[first].sides[0], k.takings[first].sides[1]
	high, wide := a.of.rows/unit, b.of.rows/unit
	there := make([]bool, high*wide)
	for i, c := range k.takings {
		if c.sides[0].of != a.of {
			continue
		}
		for _, p := range places[i] {
			if p[0]%unit != 0 || p[1]%unit != 0 {
				return
			}
			for row := p[0] / unit; row < min((p[0]+c.sides[0].n)/unit, high); row++ {
				for col := p[1] / unit; col < min((p[1]+c.sides[1].n)/unit, wide); col++ {
					there[row*wide+col] = true
				}
			}
		}
	}
	at := slices.Index(there, false)
	if at < 0 {
		return
	}
	row, col := at/wide, at%wide
	down, right := row, col
	for right+1 < wide && !there[row*wide+right+1] {
		right++
	}
	for down+1 < high && !there[(down+1)*wide+col] {
		down++
	}
	k.doubt(k.takings[first].pos, "no warp computes the MMA of %s %d to %d of %s with %s %d to %d of %s: the warp tiles, %dx%d each, do not cover the block tile",
		a.lines(), unit*row, unit*down+unit-1, a.what(), b.lines(), unit*col, unit*right+unit-1, b.what(), a.n, b.n)
}
