// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"slices"
)

// guardedOps is the maximum length of a conditional branch that becomes predicated instructions.
const guardedOps = 8

// merge joins blocks as ptxas does before it schedules: a block with a single predecessor is
// appended to it, and short conditional branches become predicated. Merged blocks become empty,
// without predecessors.
func (g *graph) merge() {
	gone := make([]bool, len(g.ops))
	g.room = make([][]op, len(g.ops))
	defer func() { g.room = nil }()
	for changed := true; changed; {
		changed = false
		for b := len(g.ops) - 1; b >= 0; b-- {
			if gone[b] {
				continue
			}
			for g.joinNext(b, gone) || g.guard(b, gone) {
				changed = true
			}
		}
	}
}

// joinNext appends to b its only successor, if b is the only predecessor of the successor.
func (g *graph) joinNext(b int, gone []bool) bool {
	if len(g.flow.Succs[b]) != 1 || g.flow.Leaves[b] {
		return false
	}
	n := g.flow.Succs[b][0]
	if n == b || n == 0 || len(g.flow.Preds[n]) != 1 {
		return false
	}
	g.cutEnd(b)
	g.appendBlock(b, n, gone)
	return true
}

// cutEnd removes the branch at the end of a block.
func (g *graph) cutEnd(b int) {
	if k := len(g.ops[b]); k > 0 && g.ops[b][k-1].in.Kind() == isa.KindBra {
		g.ops[b] = g.ops[b][:k-1]
	}
}

// appendBlock appends block n to block b, which gets the successors of n.
func (g *graph) appendBlock(b, n int, gone []bool) {
	g.prepend(b, n)
	gone[n] = true
	g.behind[b] = g.behind[n]
	g.flow.Succs[b] = g.flow.Succs[n]
	g.flow.Leaves[b] = g.flow.Leaves[n]
	for _, s := range g.flow.Succs[n] {
		for i, p := range g.flow.Preds[s] {
			if p == n {
				g.flow.Preds[s][i] = b
			}
		}
	}
	g.flow.Succs[n], g.flow.Preds[n], g.flow.Leaves[n] = nil, nil, false
}

// prepend joins the ops of blocks b and n in b. Blocks are merged from the last to the first, so
// the ops of n may be many: they are not moved if there is free space before them.
func (g *graph) prepend(b, n int) {
	x, y, room := g.ops[b], g.ops[n], g.room[n]
	beside := len(room) > 0 && len(y) > 0 && cap(room) > len(room) &&
		&room[:len(room)+1][len(room)] == &y[0]
	if !beside || len(room) < len(x) {
		room = make([]op, 2*(len(x)+len(y)))
		at := len(room) - len(y)
		copy(room[at:], y)
		room, y = room[:at], room[at:]
	}
	at := len(room) - len(x)
	copy(room[at:], x)
	g.ops[b] = room[at : len(room)+len(y) : len(room)+len(y)]
	g.room[b] = room[:at]
	g.ops[n], g.room[n] = nil, nil
}

// guard replaces the conditional branch at the end of b by predicated instructions: an if without
// else, or an if with else whose branches join again.
func (g *graph) guard(b int, gone []bool) bool {
	if len(g.flow.Succs[b]) != 2 || g.flow.Leaves[b] {
		return false
	}
	x, y := g.flow.Succs[b][0], g.flow.Succs[b][1]
	switch {
	case g.isShortBranch(b, x, y):
		g.absorb(b, x, false, gone)
	case g.isShortBranch(b, y, x):
		g.absorb(b, y, false, gone)
	case len(g.flow.Succs[x]) == 1 && len(g.flow.Succs[y]) == 1 &&
		g.flow.Succs[x][0] == g.flow.Succs[y][0] && g.isShortBranch(b, x, g.flow.Succs[x][0]) &&
		g.isShortBranch(b, y, g.flow.Succs[y][0]):
		g.absorb(b, x, false, gone)
		g.absorb(b, y, true, gone)
	default:
		return false
	}
	return true
}

// isShortBranch reports whether block n is a short branch from b to to.
func (g *graph) isShortBranch(b, n, to int) bool {
	if n == b || n == to || n == 0 || len(g.flow.Preds[n]) != 1 || len(g.flow.Succs[n]) != 1 ||
		g.flow.Succs[n][0] != to || g.flow.Leaves[n] || len(g.ops[n]) > guardedOps {
		return false
	}
	for i := range g.ops[n] {
		o := &g.ops[n][i]
		if h := o.in.Kind(); o.memory == ordered && h != isa.KindBra || o.temps > 4 ||
			h == isa.KindCall || h == isa.KindRet || h == isa.KindExit {
			return false
		}
	}
	return true
}

// absorb appends the ops of a short branch to b, under the guard of the branch. A register that the
// branch writes keeps its old value where the guard is false: the value in b, or the value that the
// first of two branches wrote.
func (g *graph) absorb(b, n int, second bool, gone []bool) {
	k := len(g.ops[b])
	var test []word
	if k > 0 && g.ops[b][k-1].in.Kind() == isa.KindBra {
		test = g.ops[b][k-1].uses
		g.ops[b] = slices.Clip(g.ops[b][:k-1])
	}
	g.cutEnd(n)
	for _, o := range g.ops[n] {
		uses := slices.Clone(o.uses)
		for _, d := range o.defs {
			if !g.words.single(d) && !has(uses, d) && has(g.behind[n], d) &&
				(second || has(g.behind[b], d)) {
				uses = append(uses, d)
			}
		}
		for _, t := range test {
			if !has(uses, t) {
				uses = append(uses, t)
			}
		}
		o.uses = uses
		g.ops[b] = append(g.ops[b], o)
	}
	to := g.flow.Succs[n][0]
	g.ops[n] = nil
	gone[n] = true
	drop := func(list []int, x int) []int {
		return slices.DeleteFunc(slices.Clone(list), func(y int) bool { return y == x })
	}
	g.flow.Succs[b] = drop(g.flow.Succs[b], n)
	if !slices.Contains(g.flow.Succs[b], to) {
		g.flow.Succs[b] = append(g.flow.Succs[b], to)
	}
	g.flow.Preds[to] = drop(g.flow.Preds[to], n)
	if !slices.Contains(g.flow.Preds[to], b) {
		g.flow.Preds[to] = append(g.flow.Preds[to], b)
	}
	if len(g.flow.Succs[b]) == 1 {
		g.behind[b] = g.behind[n]
	}
	g.flow.Succs[n], g.flow.Preds[n] = nil, nil
}

// single reports whether a word has exactly one definition.
func (s *words) single(w word) bool { return s.made[w] || s.writes[s.owner[w]] == 1 }
