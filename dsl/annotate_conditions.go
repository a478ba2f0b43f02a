// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// emitIf emits code that is executed if p is true, or if p is false when not is set.
func (k *Kernel) emitIf(p Reg[Pred], not bool, build func()) {
	k.emitUnder(ir.Condition{Reg: p.r, Not: not}, p.IsConstant(), false, build)
}

// pushCondition adds a condition to the current conditions. It copies the list first if earlier
// annotations refer to the list.
func (k *Kernel) pushCondition(c ir.Condition) {
	if len(k.conds) < k.sharedConds {
		k.conds, k.sharedConds = slices.Clone(k.conds), 0
	}
	k.conds = append(k.conds, c)
}

// emitUnder emits the code of build under condition c. A constant condition is not recorded. loop
// marks the condition of a loop. Threads that leave the loop or the kernel in this code do not
// execute the code after it.
func (k *Kernel) emitUnder(c ir.Condition, constant, loop bool, build func()) {
	n, left, out := len(k.conds), k.left, k.out
	k.left, k.out = false, false
	if !constant {
		k.pushCondition(c)
	}
	build()
	k.conds = k.conds[:n]
	k.isDivergent = k.isDivergent || k.left || k.out && !loop
	k.left, k.out = left, out
}

// addExitCondition records that only threads with a false p execute the following code, because
// the other threads left the loop, or the kernel if kernel is set.
func (k *Kernel) addExitCondition(p Reg[Pred], kernel bool) {
	if p.r != nil {
		k.pushCondition(ir.Condition{Reg: p.r, Not: true, Left: kernel})
	}
	k.left, k.out = k.left || kernel, k.out || !kernel
}
