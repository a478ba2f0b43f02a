// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

// An operandCounter counts the operands that name each register of an accumulator. It is complete
// if only MMAs and Clear use the registers; otherwise count is nil.
type operandCounter struct {
	count *int
	first int // number of operands in the code that created the accumulator
}

// annotateAccumulator adds an accumulator and the counter of its operands to the annotations.
func (k *Kernel) annotateAccumulator(a ir.Accumulator, by operandCounter) {
	a.Role = k.roleNote()
	k.notes.Accumulators = append(k.notes.Accumulators, a)
	k.operandCounters = append(k.operandCounters, by)
}

// storeOperandCounts stores the final operand counts in the annotations of accumulators.
func (k *Kernel) storeOperandCounts() {
	for i, o := range k.operandCounters {
		if o.count != nil && *o.count > 0 {
			k.notes.Accumulators[i].Owned = *o.count + o.first
		}
	}
}
