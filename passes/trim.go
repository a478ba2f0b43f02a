// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// trim removes unused declarations of f: registers, lists of targets and prototypes, .param
// variables of calls. Variables in memory are kept, because other code may depend on their size and
// position.
func trim(f *ir.Func) {
	used := make(map[ir.Ref]bool)
	for _, list := range [][]*ir.Var{f.Params, f.Results} {
		for _, v := range list {
			if v.Reg != nil {
				used[v.Reg] = true
			}
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Guard.Reg != nil {
				used[in.Guard.Reg] = true
			}
			for i := range in.Args {
				in.Args[i].Walk(func(o *ir.Operand) {
					if ref := o.Ref(); ref != nil {
						used[ref] = true
					}
				})
			}
		}
	}
	f.Regs = slices.DeleteFunc(f.Regs, func(r *ir.Reg) bool { return !used[r] })
	f.Vars = slices.DeleteFunc(f.Vars,
		func(v *ir.Var) bool { return v.Space == isa.Param && !used[v] })
	f.Targets = slices.DeleteFunc(f.Targets, func(t *ir.Targets) bool { return !used[t] })
}
