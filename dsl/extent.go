// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// What the warps of a block store of a matrix is as large as it is far from the tile of a block to that of the next: where it is larger, neighbours
// overwrite one another's sums, and where it is smaller, nobody stores what lies between.

// cornerOf is the name of a row or column of tiles, nothing where a register is none.
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

// dealt notes where the tile of a block stands.
func (k *Kernel) dealt(at TileCoord) TileCoord {
	if at.Row.r != nil && at.Col.r != nil {
		k.corners = append(k.corners, [2]*ir.Reg{at.Row.r, at.Col.r})
	}
	return at
}

// mostStep is how many rows or columns lie between tiles at most that are looked at.
const mostStep = 4096

// checkExtents reports stores of sums that reach into the tile of another block, or leave some of their own out.
func (k *Kernel) checkExtents(t *turn, told *places) {
	if k.BlockThreads() == 0 || k.schedules > 1 {
		return
	}
	t.turnTo(anyBlock)
	defer t.turnTo(firstTurn)
	seen := make(map[any]bool)
	for i := range k.watching {
		s := k.watching[i].stored
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

// allSpots are all places where sums are stored to a matrix, nothing where one is not known.
func (k *Kernel) allSpots(t *turn, matrix any) (all []storedSpot) {
	for i := range k.watching {
		w := &k.watching[i]
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

// stepOf is how far it is from the place of a block's tile to that of the next, 0 where that is not known.
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

// checkStep looks at the rows or at the columns of all places.
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

// adjoin reports whether each place ends where another begins, or where the last ends.
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
