// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package coverage reports pipelines that load data which no warp multiplies: most often a part of
// the block tile that the warp tiles do not cover.
package coverage

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for the rows of operand tiles.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "coverage",
		Doc: `Coverage reports rows of operand tiles that no MMA of a warp reads, and pairs of rows of A and
B that no warp multiplies. Tiles that other code reads, or whose rows are unknown, are not checked.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   run,
	}
}

// A check is the check of one kernel.
type check struct {
	*annotated.Pass
	list    []ir.Product
	patches [][]patch // of each product
	// other holds the tiles that are assumed to be covered.
	other map[*ir.PipelineTile]bool
}

// A patch holds the first row of each operand of an MMA, for one warp.
type patch [2]int

func run(p *annotated.Pass) {
	if len(p.Notes.Products) == 0 {
		return
	}
	c := &check{Pass: p, list: p.Notes.Products, other: make(map[*ir.PipelineTile]bool)}
	e := p.Eval()
	e.SetIteration(thread.Any)
	for i := range c.list {
		for n := range c.list[i].Sides {
			if of := c.list[i].Sides[n].Of; of != nil && of.Others {
				c.other[of] = true
			}
		}
		c.patches = append(c.patches, c.patchesOf(&c.list[i]))
	}
	e.SetIteration(thread.First)
	seen, lacks := make(map[*ir.PipelineTile]bool), make(map[*ir.PipelineTile]bool)
	for i := range c.list {
		for n := range c.list[i].Sides {
			if of := c.list[i].Sides[n].Of; of != nil && !c.other[of] && !seen[of] {
				seen[of] = true
				lacks[of] = c.rows(i, n)
			}
		}
	}
	clear(seen)
	for i := range c.list {
		a, b := c.list[i].Sides[0].Of, c.list[i].Sides[1].Of
		if a == nil || b == nil || seen[a] || c.other[a] || c.other[b] || lacks[a] || lacks[b] {
			continue
		}
		seen[a] = true
		alone := !slices.ContainsFunc(c.list, func(x ir.Product) bool {
			return (x.Sides[0].Of == a) != (x.Sides[1].Of == b) || x.Sides[0].Of == b ||
				x.Sides[1].Of == a
		})
		if alone {
			c.pairs(i)
		}
	}
}

// patchesOf returns the patches of all warps that may execute the MMA. If one is unknown, the tiles
// are assumed to be fully covered.
func (c *check) patchesOf(x *ir.Product) (list []patch) {
	e := c.Eval()
	for thread, end := e.Range(x.Role); thread < end; thread += 32 {
		e.Begin(thread)
		if e.False(x.Conds) {
			continue
		}
		var p patch
		for i := range x.Sides {
			if s := &x.Sides[i]; s.Of != nil {
				p[i] = c.first(s)
			}
		}
		list = append(list, p)
	}
	return list
}

// first returns the first row of an operand for the current warp.
func (c *check) first(s *ir.Side) int {
	v := c.Eval().ValueOf(&s.From)
	if v.Kind != thread.Constant || v.N < 0 || v.N+int64(s.N) > int64(s.Of.Rows) {
		c.other[s.Of] = true // or reported elsewhere
	}
	return int(min(max(v.N, 0), int64(s.Of.Rows)))
}

// rows reports rows of a tile that no warp multiplies.
func (c *check) rows(product, side int) bool {
	s := &c.list[product].Sides[side]
	there := make([]bool, s.Of.Rows)
	for i := range c.list {
		for n := range c.list[i].Sides {
			x := &c.list[i].Sides[n]
			if x.Of != s.Of {
				continue
			}
			for _, p := range c.patches[i] {
				for row := p[n]; row < min(p[n]+x.N, len(there)); row++ {
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
	c.Warn(c.list[product].Pos, &annotated.Protocol,
		"no warp computes the MMA of %s %d to %d of %s: the warp tiles, %d each, do not cover the tile",
		lines(s), from, to, name(s), s.N)
	return true
}

// name describes the tile and its pipeline, for messages.
func name(s *ir.Side) string { return s.Tile.String() + " of pipeline " + s.Of.Pipeline }

// lines returns "rows" or "columns", depending on what the operand rows are in the tile.
func lines(s *ir.Side) string {
	if s.Of.Turned {
		return "columns"
	}
	return "rows"
}

// unit is the number of rows that pairs checks together.
const unit = 8

// pairs reports pairs of rows of two tiles that no warp multiplies.
func (c *check) pairs(product int) {
	a, b := &c.list[product].Sides[0], &c.list[product].Sides[1]
	high, wide := a.Of.Rows/unit, b.Of.Rows/unit
	there := make([]bool, high*wide)
	for i := range c.list {
		x := &c.list[i]
		if x.Sides[0].Of != a.Of {
			continue
		}
		for _, p := range c.patches[i] {
			if p[0]%unit != 0 || p[1]%unit != 0 {
				return
			}
			for row := p[0] / unit; row < min((p[0]+x.Sides[0].N)/unit, high); row++ {
				for col := p[1] / unit; col < min((p[1]+x.Sides[1].N)/unit, wide); col++ {
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
	c.Warn(c.list[product].Pos, &annotated.Protocol,
		"no warp computes the MMA of %s %d to %d of %s with %s %d to %d of %s: the warp tiles, %dx%d each, do not cover the block tile",
		lines(a), unit*row, unit*down+unit-1, name(a), lines(b), unit*col, unit*right+unit-1,
		name(b), a.N, b.N)
}
