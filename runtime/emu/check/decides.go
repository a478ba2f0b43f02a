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
				!in.AddressReadsAny(tainted):
			case in.Has(isa.EffectPure) || in.Kind() == isa.KindMov:
				grew = in.AddWritten(tainted) || grew
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
	return yes || in.ReadsAny(tainted)
}
