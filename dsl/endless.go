// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A turning is a loop that its condition alone ends.
type turning struct {
	top, end *ir.Block
	cond     *ir.Reg
	pos      ir.Pos
}

// turns notes a loop that is closed. Cond is what it goes on by, nothing where that is known: holds says what it is then. Ways out that its body has
// besides, labels and calls that may end the thread among them, are nobody's business here.
func (k *Kernel) turns(l *loop, cond *ir.Reg, holds bool) {
	switch {
	case l.left || k.outs != l.outs:
	case cond != nil:
		k.turnings = append(k.turnings, turning{l.top, l.end, cond, l.top.Labels[0].Pos})
	case holds:
		k.m.faultAt(l.top.Labels[0].Pos, &ruleWay, "infinite loop: the body has no Break, BreakIf, Return or Exit")
	}
}

// wayOut notes what may lead out of the loops around it.
func (k *Kernel) wayOut() { k.outs++ }

// unreached reports code that nothing leads to. What comes behind it is reached from there, so that it is told once.
func (k *Kernel) unreached() {
	k.fault(&ruleWay, "unreachable code: what precedes it always ends the thread or the iteration")
}

// checkTurnings reports loops whose condition rests on nothing that their turns change.
func (k *Kernel) checkTurnings() {
	if len(k.turnings) == 0 {
		return
	}
	first := make(map[*ir.Block]int) // the number of a block's first instruction
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
	for _, t := range k.turnings {
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
				return // it was made before the loop, and stays
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

// plainly reports whether an instruction makes the same of the same registers whenever it runs.
func plainly(in *ir.Instr) bool {
	switch in.Head() {
	case "setp", "selp", "mov", "cvt", "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "abs", "neg", "and", "or", "xor", "not", "shl", "shr":
	default:
		return false
	}
	return !slices.ContainsFunc(in.Args, func(o ir.Operand) bool { return o.Kind == ir.Special })
}
