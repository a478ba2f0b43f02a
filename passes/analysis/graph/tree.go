// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package graph

// A search is a depth-first search from a virtual root above all roots. It identifies blocks by
// the order in which it visits them; the virtual root has number 0.
type search struct {
	preorder []int // preorder number of each block, or None if the block is unreachable
	block    []int // block of each preorder number
	parent   []int // preorder number of the parent of each preorder number
}

func newSearch(succs [][]int, roots []int) *search {
	s := &search{preorder: make([]int, len(succs)), block: []int{None}, parent: []int{0}}
	for b := range s.preorder {
		s.preorder[b] = None
	}
	type frame struct{ block, next int }
	var stack []frame
	visit := func(b, from int) {
		if s.preorder[b] == None {
			s.preorder[b] = len(s.block)
			s.block = append(s.block, b)
			s.parent = append(s.parent, from)
			stack = append(stack, frame{block: b})
		}
	}
	for _, root := range roots {
		visit(root, 0)
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(succs[top.block]) {
				stack = stack[:len(stack)-1]
				continue
			}
			top.next++
			visit(succs[top.block][top.next-1], s.preorder[top.block])
		}
	}
	return s
}

// buildTree computes dominators from semidominators and nearest common ancestors (Georgiadis). The
// time is almost linear, even for blocks with very many predecessors.
func buildTree(succs, preds [][]int, roots []int) *Tree {
	s := newSearch(succs, roots)
	n := len(s.block)
	semi, label, above, dom := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		semi[i], label[i], above[i], dom[i] = i, i, s.parent[i], s.parent[i]
	}
	first := make([]bool, n) // an edge leads from the virtual root to the block
	for _, r := range roots {
		first[s.preorder[r]] = true
	}
	var path []int
	// least returns the block with the least semidominator among v and those ancestors of v whose
	// number is at least last.
	least := func(v, last int) int {
		for above[v] >= last {
			path = append(path, v)
			v = above[v]
		}
		for len(path) > 0 {
			p := v
			v, path = path[len(path)-1], path[:len(path)-1]
			if semi[label[p]] < semi[label[v]] {
				label[v] = label[p]
			}
			above[v] = above[p]
		}
		return label[v]
	}
	for i := n - 1; i > 0; i-- {
		if semi[i] = s.parent[i]; first[i] {
			semi[i] = 0
		}
		for _, p := range preds[s.block[i]] {
			if at := s.preorder[p]; at != None {
				semi[i] = min(semi[i], semi[least(at, i+1)])
			}
		}
	}
	for i := 1; i < n; i++ {
		for dom[i] > semi[i] {
			dom[i] = dom[dom[i]]
		}
	}
	return s.newTree(dom)
}

// newTree returns the Tree, given the preorder number of the parent of each preorder number.
func (s *search) newTree(dom []int) *Tree {
	t := &Tree{Parent: make([]int, len(s.preorder)), preorder: make([]int, len(s.preorder)),
		size: make([]int, len(s.preorder))}
	for b := range t.Parent {
		t.Parent[b] = None
	}
	size := make([]int, len(dom))
	for i := len(dom) - 1; i > 0; i-- {
		size[i]++
		size[dom[i]] += size[i]
	}
	next := make([]int, len(dom))
	for i := 1; i < len(dom); i++ {
		b := s.block[i]
		t.Parent[b] = s.block[dom[i]]
		t.size[b], t.preorder[b] = size[i], next[dom[i]]
		next[dom[i]] += size[i]
		next[i] = t.preorder[b] + 1
	}
	return t
}
