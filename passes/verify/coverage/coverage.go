// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package coverage reports pipelines that load data that no warp multiplies, usually a part of
// the block tile that the warp tiles do not cover.
package coverage

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer that checks the rows of operand tiles.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "coverage",
		Doc: `Coverage reports rows of operand tiles that no MMA of a warp reads, and pairs of rows of A and
B that no warp multiplies. Tiles that other code reads, or whose rows are unknown, are not checked.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   run,
	}
}

// A check checks one kernel.
type check struct {
	*annotated.Pass
	list    []ir.Product
	patches [][]firstRows // for each product, the first rows of all warps
	// other holds the tiles that are assumed to be covered.
	other map[*ir.PipelineTile]bool
}

// A firstRows holds the first row of each operand of an MMA in one warp.
type firstRows [2]int

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
				lacks[of] = c.checkRows(i, n)
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
			c.checkPairs(i)
		}
	}
}

// patchesOf returns the first rows of all warps that may execute the MMA. If a row is unknown,
// the tile is added to c.other, whose tiles are assumed to be covered.
func (c *check) patchesOf(x *ir.Product) (list []firstRows) {
	e := c.Eval()
	for thread, end := e.Range(x.Role); thread < end; thread += 32 {
		e.Begin(thread)
		if e.IsFalse(x.Conds) {
			continue
		}
		var p firstRows
		for i := range x.Sides {
			if s := &x.Sides[i]; s.Of != nil {
				p[i] = c.firstRow(s)
			}
		}
		list = append(list, p)
	}
	return list
}

// firstRow returns the first row of an operand for the current warp.
func (c *check) firstRow(s *ir.Side) int {
	v := c.Eval().ValueOf(&s.From)
	if v.Kind != thread.Constant || v.N < 0 || v.N+int64(s.N) > int64(s.Of.Rows) {
		c.other[s.Of] = true // unknown, or reported by another analyzer
	}
	return int(min(max(v.N, 0), int64(s.Of.Rows)))
}

// checkRows reports rows of a tile that no warp multiplies, and returns whether it did.
func (c *check) checkRows(product, side int) bool {
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
		rowNoun(s), from, to, tileName(s), s.N)
	return true
}

// tileName returns a phrase with the tile and its pipeline, for messages.
func tileName(s *ir.Side) string { return s.Tile.String() + " of pipeline " + s.Of.Pipeline }

// rowNoun returns "rows" or "columns", depending on how the tile stores the rows of the operand.
func rowNoun(s *ir.Side) string {
	if s.Of.Turned {
		return "columns"
	}
	return "rows"
}

// rowGroup is the number of rows that checkPairs checks together.
const rowGroup = 8

// checkPairs reports pairs of rows of two tiles that no warp multiplies with each other.
func (c *check) checkPairs(product int) {
	a, b := &c.list[product].Sides[0], &c.list[product].Sides[1]
	high, wide := a.Of.Rows/rowGroup, b.Of.Rows/rowGroup
	there := make([]bool, high*wide)
	for i := range c.list {
		x := &c.list[i]
		if x.Sides[0].Of != a.Of {
			continue
		}
		for _, p := range c.patches[i] {
			if p[0]%rowGroup != 0 || p[1]%rowGroup != 0 {
				return
			}
			for row := p[0] / rowGroup; row < min((p[0]+x.Sides[0].N)/rowGroup, high); row++ {
				for col := p[1] / rowGroup; col < min((p[1]+x.Sides[1].N)/rowGroup, wide); col++ {
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
		rowNoun(a), rowGroup*row, rowGroup*down+rowGroup-1, tileName(a), rowNoun(b), rowGroup*col,
		rowGroup*right+rowGroup-1,
		tileName(b), a.N, b.N)
}
