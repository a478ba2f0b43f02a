// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// A budget divides the step limit of a module, which grows with its size, among its kernels. A
// single kernel gets more than the limits of one kernel allow. Of several, each gets a share
// by its size plus what earlier kernels left over. Kernels are verified in parallel, and
// shares must not depend on which one ends first: a share counts only what was spent by
// kernels that have certainly ended. What is left at the end goes to kernels that exceeded
// their share.
type budget struct {
	all     int   // that the module is worth
	left    int   // of it, that no kernel was given yet
	given   []int // to each kernel
	sizes   []int // of those that are followed at all, else 0
	waiting int   // the size of those that were given nothing yet
}

const (
	worth    = 1_200_000 // steps that every module is worth, however small
	perInstr = 45        // that a module is worth for each instruction
	abreast  = 16        // kernels that are verified side by side
	atLeast  = 4         // steps that each kernel gets for each of its instructions
)

// newBudget is what kernels together are worth, so many times.
func newBudget(kernels []*ir.Func, effort int) *budget {
	p := &budget{given: make([]int, len(kernels)), sizes: make([]int, len(kernels))}
	for i, f := range kernels {
		n := trace.Size(f)
		p.sizes[i] = n
		p.waiting += n
	}
	p.all = effort * max(worth, perInstr*p.waiting)
	p.left = p.all
	return p
}

// share is what kernel i may spend; kernels come in their order.
func (p *budget) share(i int) int {
	n := p.sizes[i]
	if p.waiting > 0 {
		p.given[i] = int(int64(p.left) * int64(n) / int64(p.waiting))
	}
	p.left -= p.given[i]
	p.waiting -= n
	return max(p.given[i], atLeast*n, 1)
}

// spent gives back what kernel i did not spend.
func (p *budget) spent(i, steps int) { p.left += max(0, p.given[i]-steps) }

// more is what the kernels that did not come far enough get of what all of them left over, when all have ended; 0 for one that
// would hardly come further with it. They begin anew.
func (p *budget) more(short []bool, spent []int) []int {
	left, waiting := p.all, 0
	for i := range short {
		left -= spent[i]
		if short[i] {
			waiting += p.sizes[i]
		}
	}
	more := make([]int, len(short))
	for i := range short {
		if short[i] && left > 0 && waiting > 0 {
			if m := int(int64(left) * int64(p.sizes[i]) / int64(waiting)); m >= 2*max(p.given[i], spent[i]) {
				more[i] = m
			}
		}
	}
	return more
}
