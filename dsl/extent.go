// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// The part of a matrix that the warps of a block store must be as large as the distance to the next
// block's tile. If it is larger, neighbouring blocks overwrite each other's results. If it is
// smaller, elements in between are never stored.

// cornerOf returns the name of the register of a tile row or column, or "".
func (k *Kernel) cornerOf(r *ir.Reg) string {
	for i := range k.corners {
		switch r {
		case k.corners[i][0]:
			return "tile's row"
		case k.corners[i][1]:
			return "tile's column"
		}
	}
	return ""
}

// dealt records the position of the block's tile.
func (k *Kernel) dealt(at TileCoord) TileCoord {
	if at.Row.r != nil && at.Col.r != nil {
		k.corners = append(k.corners, [2]*ir.Reg{at.Row.r, at.Col.r})
	}
	return at
}

// mostStep is the largest distance between tiles, in rows or columns, that is checked.
const mostStep = 4096

// checkExtents reports accumulator stores that reach into the tile of another block, or that do not
// cover the block's own tile.
func (k *Kernel) checkExtents(t *threadEval, told *places) {
	if k.BlockThreads() == 0 || k.schedules > 1 {
		return
	}
	t.setIteration(anyBlock)
	defer t.setIteration(firstTurn)
	seen := make(map[any]bool)
	for i := range k.deferred {
		s := k.deferred[i].stored
		if s == nil || seen[s.matrix] || slices.Contains(k.loose, s.matrix) {
			continue
		}
		seen[s.matrix] = true
		spots := k.allSpots(t, s.matrix)
		if len(spots) > 0 && !slices.ContainsFunc(spots, func(x storedSpot) bool { return told.has(x.w.pos) }) {
			if !k.checkStep(spots, "rows", func(x *storedSpot) (linear, int) { return x.row, x.w.stored.rows }) {
				k.checkStep(spots, "columns", func(x *storedSpot) (linear, int) { return x.col, x.w.stored.cols })
			}
		}
	}
}

// allSpots returns the positions of all accumulator stores to a matrix, or nil if one is unknown.
func (k *Kernel) allSpots(t *threadEval, matrix any) (all []storedSpot) {
	for i := range k.deferred {
		w := &k.deferred[i]
		if w.stored == nil || w.stored.matrix != matrix {
			continue
		}
		spots := k.spots(t, w)
		if len(spots) == 0 {
			return nil
		}
		if all == nil {
			all = spots
		} else {
			all = append(all, spots...)
		}
	}
	return all
}

// stepOf returns the distance from a block's tile to the next, or 0 if it is unknown.
func (l linear) stepOf() int64 {
	if l.lost || l.used != 1 {
		return 0
	}
	name, times := l.terms[0].name, l.terms[0].times
	if !strings.HasPrefix(name, "tile's") && !strings.HasPrefix(name, "mov.u32(%ctaid.") && !strings.HasPrefix(name, "mov.b32(%ctaid.") {
		return 0
	}
	return times
}

// checkStep checks the rows or the columns of all stores.
func (k *Kernel) checkStep(spots []storedSpot, what string, of func(*storedSpot) (linear, int)) bool {
	first, _ := of(&spots[0])
	step := first.stepOf()
	if step < 1 || step > mostStep {
		return false
	}
	least, most := first.n, first.n
	for i := range spots {
		l, n := of(&spots[i])
		if !l.rests(first) {
			return false
		}
		least, most = min(least, l.n), max(most, l.n+int64(n))
	}
	pos := spots[0].w.pos
	if most-least > 4*mostStep {
		return false
	}
	if most-least == step && adjoin(spots, of, most) {
		return false
	}
	there := make([]bool, max(step, most-least))
	for i := range spots {
		l, n := of(&spots[i])
		for at := l.n - least; at < l.n-least+int64(n); at++ {
			there[at] = true
		}
	}
	for at := step; at < most-least; at++ {
		if there[at] && there[at-step] {
			k.doubt(pos, "blocks overwrite each other's results: a block stores %d %s, but the tile of the next block starts %d %s later", most-least, what, step, what)
			return true
		}
		there[at%step] = there[at%step] || there[at]
	}
	if from := slices.Index(there[:step], false); from >= 0 {
		to := from
		for to+1 < int(step) && !there[to+1] {
			to++
		}
		k.doubt(pos, "no warp stores %s %d to %d of the block tile, whose successor starts %d %s later: the warp tiles do not cover it", what, from, to, step, what)
		return true
	}
	return false
}

// adjoin reports whether each store starts where another ends, or at the first position.
func adjoin(spots []storedSpot, of func(*storedSpot) (linear, int), most int64) bool {
	ends := map[int64]bool{most: true}
	for i := range spots {
		l, _ := of(&spots[i])
		ends[l.n] = true
	}
	return !slices.ContainsFunc(spots, func(x storedSpot) bool {
		l, n := of(&x)
		return !ends[l.n+int64(n)]
	})
}
