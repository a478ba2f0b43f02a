// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

// noteLoop annotates a complete loop. cond is the register of its condition, or nil if the
// condition is the constant holds. A loop with further exits is not annotated. Labels and calls
// that may end the thread count as exits.
func (k *Kernel) noteLoop(l *loop, cond *ir.Reg, holds bool) {
	switch {
	case l.hasBreak || k.exitCount != l.exitsBefore:
	case cond != nil:
		k.notes.Loops = append(k.notes.Loops,
			ir.Loop{Top: l.top, End: l.end, Cond: cond, Pos: l.top.Labels[0].Pos})
	case holds:
		k.m.faultAt(l.top.Labels[0].Pos, &ruleWay,
			"infinite loop: the body has no Break, BreakIf, Return or Exit")
	}
}

// noteExit records that the current instruction may leave the enclosing loops.
func (k *Kernel) noteExit() { k.exitCount++ }

// startUnreachable starts a basic block for unreachable code and reports the unreachable code
// once.
func (k *Kernel) startUnreachable() {
	k.fault(&ruleWay,
		"unreachable code: the code before it always ends the thread or the iteration")
}
