// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// A purse is the work that a module is worth, in steps: what it takes grows with its size, however its kernels are made. A kernel
// that is alone has more than the limits of one kernel let it spend; of many, each has the share that its size gives it, and
// what those before it left over. Kernels are verified side by side, and shares must not rest on which of them ends first: a
// kernel's share counts what others spent that stand so far before it that they have ended for certain.
type purse struct {
	left    int   // that no kernel was given yet
	given   []int // to each kernel
	sizes   []int // of those that are followed at all, else 0
	waiting int   // the size of those that were given nothing yet
}

const (
	worth    = 1_200_000 // steps that every module is worth, however small
	perInstr = 50        // that a module is worth for each instruction
	abreast  = 16        // kernels that are verified side by side
	atLeast  = 4         // steps that each kernel gets for each of its instructions
)

func newPurse(kernels []*ir.Func) *purse {
	p := &purse{given: make([]int, len(kernels)), sizes: make([]int, len(kernels))}
	for i, f := range kernels {
		n := trace.Size(f)
		p.sizes[i] = n
		p.waiting += n
	}
	p.left = max(worth, perInstr*p.waiting)
	return p
}

// share is what kernel i may spend; kernels come in their order.
func (p *purse) share(i int) int {
	n := p.sizes[i]
	if p.waiting > 0 {
		p.given[i] = int(int64(p.left) * int64(n) / int64(p.waiting))
	}
	p.left -= p.given[i]
	p.waiting -= n
	return max(p.given[i], atLeast*n, 1)
}

// spent gives back what kernel i did not spend.
func (p *purse) spent(i, steps int) { p.left += max(0, p.given[i]-steps) }
