// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// What a pipeline brings and no warp multiplies is most often a part of the block's tile that the tiles of the warps leave out.

// A coverage is a kind of tile that a pipeline brings, as far as the sums of warps are made of it.
type coverage struct {
	pipeline string
	other    bool // something else reads the tile, or nobody knows who
	turned   bool
	rows     int // as a factor has them; 0 where nothing was multiplied yet
}

// coverages are those of n kinds of tile.
func coverages(pipeline string, n int) []coverage {
	list := make([]coverage, n)
	for i := range list {
		list[i].pipeline = pipeline
	}
	return list
}

// elsewhere notes that something else reads the tile, or a part of it.
func (c *coverage) elsewhere() {
	if c != nil {
		c.other = true
	}
}

// A taking is rows of a factor that a warp multiplies, and those of the other factor that it multiplies them by.
type taking struct {
	pos   ir.Pos
	conds []condition
	role  *role
	sides [2]side
}

// A side is n rows of a factor from one on.
type side struct {
	of   *coverage
	tile Tile
	from Reg[U32]
	n    int
}

// side is n rows of a tile, nothing where it is of no pipeline.
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

// what is the tile as messages name it, and who brings it.
func (s side) what() string { return s.tile.String() + " of pipeline " + s.of.pipeline }

// multiplied notes what a warp multiplies.
func (k *Kernel) multiplied(a, b side) {
	if a.of == nil && b.of == nil {
		return
	}
	if k.parted || !k.f.Kernel || k.BlockThreads() == 0 || len(k.takings) >= mostWatched/8 {
		a.of.elsewhere()
		b.of.elsewhere()
		return
	}
	k.held = max(k.held, len(k.conds))
	k.takings = append(k.takings, taking{k.m.calls.here(), k.conds, k.role, [2]side{a, b}})
}

// checkCovers reports rows of tiles that no warp multiplies, and those that no warp multiplies by one another.
func (k *Kernel) checkCovers(t *turn) {
	if len(k.takings) == 0 {
		return
	}
	t.turnTo(anyTurn)
	defer t.turnTo(firstTurn)
	var places [][]patch // of each taking
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

// A patch is where the sides of a taking begin for a warp.
type patch [2]int

// patches are those of all warps that may come. Where one is not known, others are: the tiles are taken for covered.
func (c *taking) patches(k *Kernel, t *turn) (list []patch) {
	w := watched{role: c.role}
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
				s.of.elsewhere() // or is told elsewhere
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

// lines is what the rows of a factor are in its tile.
func (s side) lines() string {
	if s.of.turned {
		return "columns"
	}
	return "rows"
}

// checkPairs reports rows of two tiles that no warp multiplies by one another.
func (k *Kernel) checkPairs(first int, places [][]patch) {
	const unit = 8 // rows that are looked at together
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
