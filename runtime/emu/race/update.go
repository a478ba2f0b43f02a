// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// maxUpdateSteps limits the instructions between the load and the store of an update.
const maxUpdateSteps = 6

// isUpdate reports whether a store writes a value that is computed from a load of the same address
// in its basic block, as in counts[i]++.
func isUpdate(m *ir.Module, store *ir.Instr) bool {
	if store == nil || store.Kind().Head() != isa.HeadSt || len(store.Args) < 2 {
		return false
	}
	for _, f := range m.Funcs() {
		for _, b := range f.Blocks {
			if at := slices.Index(b.Instrs, store); at >= 0 {
				return isComputedFrom(b.Instrs[:at], store.Args[1].Reg, &store.Args[0],
					maxUpdateSteps)
			}
		}
	}
	return false
}

// isComputedFrom reports whether the last of the instructions that write a register compute it
// from a load of an address.
func isComputedFrom(list []*ir.Instr, r *ir.Reg, address *ir.Operand, steps int) bool {
	at := lastWrite(list, r)
	if at < 0 || steps == 0 {
		return false
	}
	in := list[at]
	if in.Kind().Head() == isa.HeadLd {
		return len(in.Args) > 1 && isSameAddress(list, &in.Args[1], address)
	}
	for i := range in.Args[1:] {
		if isComputedFrom(list[:at], in.Args[i+1].Reg, address, steps-1) {
			return true
		}
	}
	return false
}

// lastWrite returns the index of the last instruction whose first operand is r, or -1.
func lastWrite(list []*ir.Instr, r *ir.Reg) int {
	for i := len(list) - 1; i >= 0 && r != nil; i-- {
		if in := list[i]; !in.Directive() && len(in.Args) > 1 && in.Args[0].Reg == r {
			return i
		}
	}
	return -1
}

// isSameAddress reports whether two address operands are the same variable or register with the
// same offset, or registers that are computed alike.
func isSameAddress(list []*ir.Instr, a, b *ir.Operand) bool {
	if len(a.Args()) != 1 || len(b.Args()) != 1 {
		return false
	}
	x, y := &a.Args()[0], &b.Args()[0]
	if x.Value != y.Value {
		return false
	}
	return isSameOperand(x, y) || isSameResult(list, x.Reg, y.Reg)
}

// isSameResult reports whether two registers are results of the same operation.
func isSameResult(list []*ir.Instr, x, y *ir.Reg) bool {
	i, j := lastWrite(list, x), lastWrite(list, y)
	if i < 0 || j < 0 || list[i].Op != list[j].Op || len(list[i].Args) != len(list[j].Args) {
		return false
	}
	for n := range list[i].Args[1:] {
		if !isSameOperand(&list[i].Args[n+1], &list[j].Args[n+1]) {
			return false
		}
	}
	return true
}

// isSameOperand reports whether two operands are the same register, variable or constant.
func isSameOperand(x, y *ir.Operand) bool {
	return x.Kind == y.Kind && x.Reg == y.Reg && x.Var() == y.Var() && x.Value == y.Value &&
		(x.Reg != nil || x.Var() != nil || x.Kind == ir.Int)
}
