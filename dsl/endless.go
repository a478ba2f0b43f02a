// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An openLoop is a loop that ends only by its condition.
type openLoop struct {
	top, end *ir.Block
	cond     *ir.Reg
	pos      ir.Pos
}

// noteLoop records a complete loop. cond is the register of its condition, or nil if the condition
// is the constant holds. Loops with other exits in the body are not checked, including labels and
// calls that may end the thread.
func (k *Kernel) noteLoop(l *loop, cond *ir.Reg, holds bool) {
	switch {
	case l.left || k.outs != l.outs:
	case cond != nil:
		k.openLoops = append(k.openLoops, openLoop{l.top, l.end, cond, l.top.Labels[0].Pos})
	case holds:
		k.m.faultAt(l.top.Labels[0].Pos, &ruleWay, "infinite loop: the body has no Break, BreakIf, Return or Exit")
	}
}

// wayOut records an instruction that may leave the enclosing loops.
func (k *Kernel) wayOut() { k.outs++ }

// unreached starts a block for unreachable code, and reports it once. Code after it counts as
// reachable.
func (k *Kernel) unreached() {
	k.fault(&ruleWay, "unreachable code: what precedes it always ends the thread or the iteration")
}

// checkLoops reports loops whose condition depends on nothing that the loop changes.
func (k *Kernel) checkLoops() {
	if len(k.openLoops) == 0 {
		return
	}
	first := make(map[*ir.Block]int) // index of the first instruction of each block
	type write struct {
		at int
		in *ir.Instr
	}
	writes := make(map[*ir.Reg][]write)
	n := 0
	for _, b := range k.f.Blocks {
		first[b] = n
		for _, in := range b.Instrs {
			n++
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a != isa.Read {
					writes[r] = append(writes[r], write{n, in})
				}
			})
		}
	}
	for _, t := range k.openLoops {
		lo, hi := first[t.top], first[t.end]
		seen := make(map[*ir.Reg]bool)
		same := true
		var look func(r *ir.Reg)
		look = func(r *ir.Reg) {
			if seen[r] || !same {
				return
			}
			seen[r] = true
			list := writes[r]
			from, _ := slices.BinarySearchFunc(list, lo+1, func(w write, at int) int { return w.at - at })
			if from == len(list) || list[from].at > hi {
				return // computed before the loop, and unchanged in it
			}
			if in := list[from].in; len(list) > 1 || r.Varies || in.Guard.Reg != nil || !plainly(in) {
				same = false
				return
			}
			list[from].in.Registers(func(r *ir.Reg, a isa.Access) {
				if a == isa.Read {
					look(r)
				}
			})
		}
		if look(t.cond); same {
			k.m.faultAt(t.pos, &ruleWay, "infinite loop: the body does not change what its condition depends on; assign to a variable with Set")
		}
	}
}

// plainly reports whether the result of an instruction depends only on its source registers.
func plainly(in *ir.Instr) bool {
	switch in.Head() {
	case "setp", "selp", "mov", "cvt", "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "abs", "neg", "and", "or", "xor", "not", "shl", "shr":
	default:
		return false
	}
	return !slices.ContainsFunc(in.Args, func(o ir.Operand) bool { return o.Kind == ir.Special })
}
