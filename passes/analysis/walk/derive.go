// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Derive adds, to the marks of each register, the marks of the registers that it is computed from,
// and those that own returns for the instructions that compute it. marks is indexed by the number
// of the register. Loads and other instructions with effects do not pass on marks.
func Derive(f *ir.Func, marks []uint8, own func(*ir.Instr) uint8) {
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if !in.Has(isa.EffectPure) {
					continue
				}
				set := own(in)
				in.Registers(func(r *ir.Reg, a isa.Access) { // the sources are visited first
					n := int(r.Number)
					switch {
					case n >= len(f.Regs) || f.Regs[n] != r:
					case a == isa.Read:
						set |= marks[n]
					case set&^marks[n] != 0:
						marks[n] |= set
						changed = true
					}
				})
			}
		}
	}
}
