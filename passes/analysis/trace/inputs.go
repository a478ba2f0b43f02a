// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// DependsOnInput reports whether the values of registers depend on kernel inputs: parameters,
// memory, or the block index. If constants were substituted for the inputs, the values are only
// examples, because a caller may never pass these constants.
func (k *Kernel) DependsOnInput(list ...*ir.Reg) bool {
	if k.writers == nil {
		k.writers = make(map[*ir.Reg][]*ir.Instr)
		for _, b := range k.Func.Blocks {
			for _, in := range b.Instrs {
				in.Registers(func(r *ir.Reg, a isa.Access) {
					if a != isa.Read {
						k.writers[r] = append(k.writers[r], in)
					}
				})
			}
		}
	}
	seen := make(map[*ir.Reg]bool)
	for len(list) > 0 {
		r := list[len(list)-1]
		list = list[:len(list)-1]
		if r == nil || seen[r] {
			continue
		}
		seen[r] = true
		for _, in := range k.writers[r] {
			if readsInput(in) {
				return true
			}
			in.Registers(func(from *ir.Reg, a isa.Access) {
				if a != isa.Write {
					list = append(list, from)
				}
			})
		}
	}
	return false
}

// readsInput reports whether an instruction reads a kernel input.
func readsInput(in *ir.Instr) bool {
	switch Of(in) {
	case Load, Atomic, Call:
		return true
	}
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ir.Special &&
			(strings.Contains(o.Text(), "ctaid") || strings.Contains(o.Text(), "clusterid")) {
			return true
		}
	}
	return false
}
