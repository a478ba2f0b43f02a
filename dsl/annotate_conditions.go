// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// under emits code that is executed if p is true, or if p is false when not is set.
func (k *Kernel) under(p Reg[Pred], not bool, build func()) {
	k.amid(ir.Condition{Reg: p.r, Not: not}, p.IsConstant(), false, build)
}

// hold adds a condition to the current ones. It copies the list, because earlier annotations share
// it.
func (k *Kernel) hold(c ir.Condition) {
	if len(k.conds) < k.held {
		k.conds, k.held = slices.Clone(k.conds), 0
	}
	k.conds = append(k.conds, c)
}

// amid emits code under a condition, unless the condition is constant. Threads that leave the loop
// or the kernel in this code do not execute the code after it.
func (k *Kernel) amid(c ir.Condition, constant, loop bool, build func()) {
	n, left, out := len(k.conds), k.left, k.out
	k.left, k.out = false, false
	if !constant {
		k.hold(c)
	}
	build()
	k.conds = k.conds[:n]
	k.parted = k.parted || k.left || k.out && !loop
	k.left, k.out = left, out
}

// remain records that only threads with a false p execute the following code.
func (k *Kernel) remain(p Reg[Pred], kernel bool) {
	if p.r != nil {
		k.hold(ir.Condition{Reg: p.r, Not: true, Left: kernel})
	}
	k.left, k.out = k.left || kernel, k.out || !kernel
}
