// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package graph analyzes control-flow graphs: dominators and postdominators, loops, and the
// blocks between a branch and the point where its paths join. It does not depend on instructions.
package graph

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// A Tree is a dominator tree or a postdominator tree. Parent holds, for each block, its immediate
// dominator or postdominator, or None if the block has no dominator or is unreachable.
type Tree struct {
	Parent []int
	// The blocks below block b in the tree have the preorder numbers from preorder[b] to
	// preorder[b]+size[b]-1.
	preorder, size []int
}

// None is the block number that stands for no block.
const None = -1

// Dominators returns the dominator tree of the blocks that are reachable from block 0.
func Dominators(succs, preds [][]int) *Tree {
	if len(succs) == 0 {
		return &Tree{}
	}
	return buildTree(succs, preds, []int{0})
}

// Postdominators returns the postdominator tree. The parameter ends reports, for each block,
// whether control may leave the function there. If paths from a block end at several such blocks
// without joining before, the block has no parent.
func Postdominators(succs, preds [][]int, ends []bool) *Tree {
	var roots []int
	for b, leaves := range ends {
		if leaves || len(succs[b]) == 0 {
			roots = append(roots, b)
		}
	}
	return buildTree(preds, succs, roots)
}

// Has reports whether a dominates b. A block dominates itself. An unreachable block dominates
// only itself.
func (t *Tree) Has(a, b int) bool {
	return a == b || t.preorder[b] > t.preorder[a] && t.preorder[b] < t.preorder[a]+t.size[a]
}

// Controls returns, for each block, the blocks whose branches directly decide whether the block is
// executed: one side of the branch certainly reaches the block, and the other side may not. leaves
// and post are the argument and the result of Postdominators.
func Controls(succs [][]int, leaves []bool, post *Tree) [][]int {
	controls := make([][]int, len(succs))
	for from, to := range succs {
		if len(to) < 2 && (len(to) == 0 || !leaves[from]) {
			continue
		}
		for _, b := range to {
			for b != None && b != post.Parent[from] {
				if n := len(controls[b]); n > 0 && controls[b][n-1] == from {
					break
				}
				controls[b] = append(controls[b], from)
				b = post.Parent[b]
			}
		}
	}
	return controls
}

// Exiting reports, for each block, whether a block at which control may leave is reachable.
func Exiting(succs, preds [][]int, leaves []bool) []bool {
	var ends []int
	for b, leave := range leaves {
		if leave || len(succs[b]) == 0 {
			ends = append(ends, b)
		}
	}
	exiting := make([]bool, len(succs))
	for _, b := range ir.Postorder(preds, ends...) {
		exiting[b] = true
	}
	return exiting
}

// A Loop is a natural loop: the blocks from which a back edge to the head is reachable without
// passing the head, and the head.
type Loop struct {
	Head   int
	Parent *Loop // the enclosing loop, or nil
	Blocks []int // sorted
	Inner  bool  // contains no other loop
}

// Has reports whether block b is in l.
func (l *Loop) Has(b int) bool {
	_, found := slices.BinarySearch(l.Blocks, b)
	return found
}

// Loops returns the natural loops, outer loops first, and for each block the innermost loop that
// contains the block, or nil. whole reports whether every cycle is a natural loop, which means
// that control flow is reducible.
func Loops(succs, preds [][]int, dom *Tree) (list []*Loop, in []*Loop, whole bool) {
	n := len(succs)
	order := ir.Postorder(succs, 0)
	number := make([]int, n)
	for i := range number {
		number[i] = None
	}
	for i, b := range order {
		number[b] = i
	}
	whole = true
	tails := make(map[int][]int)
	for _, b := range order {
		for _, s := range succs[b] {
			if dom.Has(s, b) {
				tails[s] = append(tails[s], b)
			} else if number[s] >= number[b] {
				whole = false
			}
		}
	}
	for head, from := range tails {
		in := map[int]bool{head: true}
		work := slices.Clone(from)
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if in[b] {
				continue
			}
			in[b] = true
			for _, p := range preds[b] {
				if number[p] != None {
					work = append(work, p)
				}
			}
		}
		l := &Loop{Head: head, Inner: true}
		for b := range in {
			l.Blocks = append(l.Blocks, b)
		}
		slices.Sort(l.Blocks)
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *Loop) int {
		if len(a.Blocks) != len(b.Blocks) {
			return len(b.Blocks) - len(a.Blocks)
		}
		return a.Head - b.Head
	})
	in = make([]*Loop, n)
	for _, l := range list {
		if out := in[l.Head]; out != nil && out != l {
			l.Parent, out.Inner = out, false
		}
		for _, b := range l.Blocks {
			in[b] = l
		}
	}
	return list, in, whole
}

// Between returns the sorted blocks on the paths from any block in from to end, without end. ok
// is false if there are more than limit such blocks.
func Between(succs [][]int, from []int, end, limit int) (list []int, ok bool) {
	seen := make(map[int]bool)
	work := slices.Clone(from)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == end || seen[b] {
			continue
		}
		if len(seen) == limit {
			return nil, false
		}
		seen[b] = true
		work = append(work, succs[b]...)
	}
	for b := range seen {
		list = append(list, b)
	}
	slices.Sort(list)
	return list, true
}
