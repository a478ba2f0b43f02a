// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Flow is the control-flow graph of a function: for each block, by its index in Blocks, its
// successors and predecessors. Indices are in the order of the text.
type Flow struct {
	Func  *Func
	Succs [][]int
	Preds [][]int
	// Leaves reports for each block whether control may leave the function at its end.
	Leaves []bool
}

// FlowOf computes the current control flow of f.
func FlowOf(f *Func) *Flow {
	number := make(map[*Block]int, len(f.Blocks))
	for i, b := range f.Blocks {
		number[b] = i
	}
	g := &Flow{Func: f, Succs: make([][]int, len(f.Blocks)), Preds: make([][]int, len(f.Blocks)),
		Leaves: make([]bool, len(f.Blocks))}
	for i, b := range f.Blocks {
		through := true
		if in := b.Last(); in != nil && in.Ends() {
			for j := range in.Args {
				in.Args[j].Walk(func(o *Operand) {
					switch ref := o.Ref().(type) {
					case *Block:
						g.edge(i, number[ref])
					case *Targets:
						for _, to := range ref.Blocks {
							g.edge(i, number[to])
						}
					}
				})
			}
			g.Leaves[i] = in.Has(isa.EffectTerminator)
			through = in.Guard.Reg != nil
		}
		if !through {
			continue
		}
		if i+1 < len(f.Blocks) {
			g.edge(i, i+1)
		} else {
			g.Leaves[i] = true
		}
	}
	return g
}

func (g *Flow) edge(from, to int) {
	for _, s := range g.Succs[from] {
		if s == to {
			return
		}
	}
	g.Succs[from] = append(g.Succs[from], to)
	g.Preds[to] = append(g.Preds[to], from)
}

// Last returns the last instruction of b that is not a directive, or nil.
func (b *Block) Last() *Instr {
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		if in := b.Instrs[i]; !in.Directive() {
			return in
		}
	}
	return nil
}

// Ends reports whether control always leaves b at its last instruction.
func (b *Block) Ends() bool {
	in := b.Last()
	return in != nil && in.Ends()
}

// Order returns the reachable blocks in reverse postorder: each after its predecessors, except
// for back edges.
func (g *Flow) Order() []int {
	order := Postorder(g.Succs, 0)
	slices.Reverse(order)
	return order
}

// Postorder returns the nodes of any graph that are reachable from the roots, each after its
// successors, except for back edges.
func Postorder(succs [][]int, roots ...int) []int {
	var order []int
	seen := make([]bool, len(succs))
	type frame struct{ block, next int }
	for _, root := range roots {
		if root >= len(succs) || seen[root] {
			continue
		}
		seen[root] = true
		stack := []frame{{block: root}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next < len(succs[top.block]) {
				s := succs[top.block][top.next]
				top.next++
				if !seen[s] {
					seen[s] = true
					stack = append(stack, frame{block: s})
				}
				continue
			}
			order = append(order, top.block)
			stack = stack[:len(stack)-1]
		}
	}
	return order
}
