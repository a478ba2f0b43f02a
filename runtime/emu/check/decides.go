// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// decides reports whether a value that is read from some operands may reach an address, a branch,
// or anything else than the data of a store to global memory.
func (k *kernel) decides(from func(*ir.Operand) bool) (yes bool) {
	tainted := make(map[*ir.Reg]bool)
	for grew := true; grew && !yes; {
		grew = false
		k.instructions(func(in *ir.Instr) {
			if yes || !readsFrom(in, from, tainted) {
				return
			}
			switch {
			case in.Guard.Reg != nil && tainted[in.Guard.Reg]:
				yes = true
			case in.Kind() == isa.KindSt && in.Space().Base() == isa.Global &&
				!addressedBy(in, tainted):
			case in.Has(isa.EffectPure) || in.Kind() == isa.KindMov:
				in.Registers(func(r *ir.Reg, a isa.Access) {
					if a != isa.Read && !tainted[r] {
						tainted[r], grew = true, true
					}
				})
			default:
				yes = true
			}
		})
	}
	return yes
}

// readsFrom reports whether an instruction reads one of some operands or registers.
func readsFrom(in *ir.Instr, from func(*ir.Operand) bool, tainted map[*ir.Reg]bool) (yes bool) {
	for i := range in.Args {
		in.Args[i].Walk(func(o *ir.Operand) { yes = yes || from(o) })
	}
	in.Registers(func(r *ir.Reg, a isa.Access) { yes = yes || a != isa.Write && tainted[r] })
	return yes
}

// addressedBy reports whether the address of an instruction depends on one of some registers.
func addressedBy(in *ir.Instr, tainted map[*ir.Reg]bool) (yes bool) {
	for i := range in.Args {
		if in.Args[i].Kind == ir.Address {
			in.Args[i].Walk(func(o *ir.Operand) { yes = yes || o.Reg != nil && tainted[o.Reg] })
		}
	}
	return yes
}
