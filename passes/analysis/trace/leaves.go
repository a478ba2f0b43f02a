// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// LeavesKernel reports whether the threads that take the other side of a branch execute nothing
// relevant afterwards: they exit, and do not just skip some code before they rejoin the other
// threads.
func (k *Kernel) LeavesKernel(c Choice) bool {
	w := branchOutcome{c.In, c.Block, c.Taken}
	quits, known := k.quits[w]
	if !known {
		if k.quits == nil {
			k.quits = make(map[branchOutcome]bool)
		}
		quits = k.computeLeaves(c)
		k.quits[w] = quits
	}
	return quits
}

// A branchOutcome is a branch and its outcome. The result of LeavesKernel depends only on it, and
// so is the same for all traces.
type branchOutcome struct {
	in    *ir.Instr
	block int
	taken bool
}

// computeLeaves computes the result of LeavesKernel from the control-flow graph.
func (k *Kernel) computeLeaves(c Choice) bool {
	in := c.In
	taken := -1
	for i := range in.Args {
		if b := in.Args[i].Block(); b != nil {
			taken = slices.Index(k.Func.Blocks, b)
		}
	}
	other := c.Block + 1
	if !c.Taken {
		other = taken
	}
	if in.Has(isa.EffectTerminator) {
		return !c.Taken
	}
	if taken < 0 || other >= len(k.Func.Blocks) || in.Kind() != isa.KindBra {
		return false
	}
	blocks, ok := graph.Between(k.Flow.Succs, []int{other}, graph.None, 64)
	if !ok {
		return false
	}
	for _, b := range blocks {
		for _, in := range k.Func.Blocks[b].Instrs {
			switch Of(in) {
			case Other, Load, Store, Atomic, Exit, Fence:
			default:
				if !in.Directive() {
					return false
				}
			}
		}
	}
	for b := k.Post.Parent[c.Block]; b != graph.None; b = k.Post.Parent[b] {
		for _, in := range k.Func.Blocks[b].Instrs {
			if kind := Of(in); kind == Store || kind == Atomic {
				return false
			}
		}
	}
	return true
}
