// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// A budget divides the step limit of a module, which grows with the module's size, among its
// kernels. A single kernel gets more than the default limit of a kernel. Otherwise each kernel
// gets a share by its size, plus the steps that earlier kernels have not used. Kernels are
// verified in parallel, but shares must not depend on timing: a share counts only the steps of
// kernels that have certainly finished. Steps left at the end go to kernels that exceeded their
// share.
type budget struct {
	all     int   // steps of the module
	left    int   // steps not yet given to a kernel
	given   []int // steps given to each kernel
	sizes   []int // sizes of the kernels
	waiting int   // total size of the kernels without a share
}

const (
	minModuleSteps   = 1_200_000 // minimum number of steps for a module
	stepsPerInstr    = 45        // steps for a module per instruction
	maxParallel      = 16        // number of kernels that are verified in parallel
	minStepsPerInstr = 4         // minimum number of steps for a kernel per instruction
)

// newBudget returns the budget of a module's kernels, multiplied by effort.
func newBudget(kernels []*ir.Func, effort int) *budget {
	p := &budget{given: make([]int, len(kernels)), sizes: make([]int, len(kernels))}
	for i, f := range kernels {
		n := trace.Size(f)
		p.sizes[i] = n
		p.waiting += n
	}
	p.all = effort * max(minModuleSteps, stepsPerInstr*p.waiting)
	p.left = p.all
	return p
}

// share returns the number of steps that kernel i may use. It must be called in the order of the
// kernels.
func (p *budget) share(i int) int {
	n := p.sizes[i]
	if p.waiting > 0 {
		p.given[i] = int(int64(p.left) * int64(n) / int64(p.waiting))
	}
	p.left -= p.given[i]
	p.waiting -= n
	return max(p.given[i], minStepsPerInstr*n, 1)
}

// returnUnused returns the unused steps of kernel i to the budget. The kernel has used the given
// number of steps.
func (p *budget) returnUnused(i, steps int) { p.left += max(0, p.given[i]-steps) }

// secondShares divides the remaining steps among the kernels that exceeded their share, and returns
// the new share of each kernel. A share is 0 if it would hardly be larger than the old one. Each
// kernel with a new share is checked again from the start.
func (p *budget) secondShares(short []bool, spent []int) []int {
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
			if m := int(int64(left) * int64(p.sizes[i]) / int64(waiting)); m >= 2*max(p.given[i],
				spent[i]) {
				more[i] = m
			}
		}
	}
	return more
}
