// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tilestore

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/thread"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Extents returns the analyzer that compares the stored part of a matrix with the distance
// between block tiles.
func Extents() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "tilestore-extents",
		Doc: `It compares the part of a matrix that the warps of a block store with the distance to the next
block's tile. If the part is larger, neighboring blocks overwrite each other's results. If it is
smaller, elements in between are never stored. Matrices that other code writes too are not checked.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   runExtents,
	}
}

// maxStep is the largest distance between tiles, in rows or columns, that is checked.
const maxStep = 4096

func runExtents(p *annotated.Pass) {
	if p.Notes.Threads() == 0 || p.Notes.Schedules > 1 ||
		!slices.ContainsFunc(p.Notes.Uses, func(u ir.Use) bool { return isStore(&u) }) {
		return
	}
	e := p.Eval()
	e.SetIteration(thread.AnyBlock)
	defer e.SetIteration(thread.First)
	seen := make(map[ir.Ref]bool)
	for i := range p.Notes.Uses {
		s, ok := p.Notes.Uses[i].What.(*ir.TileStore)
		if !ok || seen[s.Matrix] || slices.Contains(p.Notes.Loose, s.Matrix) {
			continue
		}
		seen[s.Matrix] = true
		spots := allPositions(p, s.Matrix)
		if len(spots) > 0 &&
			!slices.ContainsFunc(spots, func(x storePosition) bool {
				return p.Reported(x.use.Pos)
			}) {
			if !checkStep(p, spots, "rows", func(x *storePosition) (thread.Linear, int) {
				return x.row, x.store.Rows
			}) {
				checkStep(p, spots, "columns", func(x *storePosition) (thread.Linear, int) {
					return x.col, x.store.Cols
				})
			}
		}
	}
}

// allPositions returns the positions of all accumulator stores to a matrix, or nil if a position is
// unknown.
func allPositions(p *annotated.Pass, matrix ir.Ref) (all []storePosition) {
	for i := range p.Notes.Uses {
		u := &p.Notes.Uses[i]
		if s, ok := u.What.(*ir.TileStore); !ok || s.Matrix != matrix {
			continue
		}
		spots := positionsOf(p, u)
		if len(spots) == 0 {
			return nil
		}
		all = append(all, spots...)
	}
	return all
}

// An extentFunc returns the first row and the number of rows of a store, or the first column and
// the number of columns.
type extentFunc func(*storePosition) (thread.Linear, int)

// checkStep compares the rows or the columns that the stores of a block cover with the distance to
// the next block's tile, and reports gaps and overlaps. It returns whether it made a finding.
func checkStep(p *annotated.Pass, spots []storePosition, what string, of extentFunc) bool {
	first, _ := of(&spots[0])
	step := first.BlockStep()
	if step < 1 || step > maxStep {
		return false
	}
	least, most := first.N, first.N
	for i := range spots {
		l, n := of(&spots[i])
		if !l.Comparable(first) {
			return false
		}
		least, most = min(least, l.N), max(most, l.N+int64(n))
	}
	if most-least > 4*maxStep || most-least == step && areAdjacent(spots, of, most) {
		return false
	}
	there := make([]bool, max(step, most-least))
	for i := range spots {
		l, n := of(&spots[i])
		for at := l.N - least; at < l.N-least+int64(n); at++ {
			there[at] = true
		}
	}
	pos := spots[0].use.Pos
	for at := step; at < most-least; at++ {
		if there[at] && there[at-step] {
			p.Warn(pos, &annotated.Protocol,
				"blocks overwrite each other's results: a block stores %d %s, but the tile of the next block starts %d %s later",
				most-least, what, step, what)
			return true
		}
		there[at%step] = there[at%step] || there[at]
	}
	from := slices.Index(there[:step], false)
	if from < 0 {
		return false
	}
	to := from
	for to+1 < int(step) && !there[to+1] {
		to++
	}
	p.Warn(pos, &annotated.Protocol,
		"no warp stores %s %d to %d of the block tile, although the next block tile starts %d %s later: the warp tiles do not cover the block tile",
		what, from, to, step, what)
	return true
}

// areAdjacent reports whether each store ends where another store starts, or at the end of the
// tile.
func areAdjacent(spots []storePosition, of extentFunc, most int64) bool {
	starts := map[int64]bool{most: true}
	for i := range spots {
		l, _ := of(&spots[i])
		starts[l.N] = true
	}
	return !slices.ContainsFunc(spots, func(x storePosition) bool {
		l, n := of(&x)
		return !starts[l.N+int64(n)]
	})
}
