// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

// An owned counter counts the operands of MMAs and Clear that name the registers of an accumulator.
// Its pointer is nil if other code also reads these registers.
type owned struct {
	takes *int
	first int // number of such operands before the accumulator was created
}

// holdsAccumulator annotates the kernel with the registers of an accumulator.
func (k *Kernel) holdsAccumulator(a ir.Accumulator, by owned) {
	a.Role = k.roleNote()
	k.notes.Accumulators = append(k.notes.Accumulators, a)
	k.owned = append(k.owned, by)
}

// countOwned stores the final operand counts in the annotations of accumulators.
func (k *Kernel) countOwned() {
	for i, o := range k.owned {
		if o.takes != nil && *o.takes > 0 {
			k.notes.Accumulators[i].Owned = *o.takes + o.first
		}
	}
}
