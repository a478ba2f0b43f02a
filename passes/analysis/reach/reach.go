// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package reach computes reaching definitions: which writes of a register are visible at an
// instruction. It computes them on demand, backwards from the instruction to the writes, so the
// cost depends only on the code in between.
package reach

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Writes holds the register writes of one function. It is valid until the function changes.
type Writes struct {
	flow   *ir.Flow
	at     map[*ir.Instr]position // position of each instruction; nil until spot is called
	by     map[*ir.Reg][]write    // in program order
	params map[*ir.Reg]bool       // parameters of the function
}

// A position is the position of an instruction: its block, and its index in the block.
type position struct{ block, index int }

// A write is an instruction that writes a register. part is set for a guarded or partial write,
// after which earlier writes remain visible.
type write struct {
	position
	in      *ir.Instr
	partial bool
}

// Of finds the register writes of a function.
func Of(g *ir.Flow) *Writes {
	w := &Writes{flow: g, by: make(map[*ir.Reg][]write, len(g.Func.Regs)),
		params: make(map[*ir.Reg]bool)}
	for _, v := range g.Func.Params {
		if v.Reg != nil {
			w.params[v.Reg] = true
		}
	}
	var firsts []write // most registers are written once
	for i, b := range g.Func.Blocks {
		for j, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a == isa.Read {
					return
				}
				one := write{position{i, j}, in, a == isa.ReadWrite}
				if was := w.by[r]; len(was) > 0 {
					w.by[r] = append(was, one)
					return
				}
				if len(firsts) == cap(firsts) {
					firsts = make([]write, 0, 64)
				}
				n := len(firsts)
				firsts = append(firsts, one)
				w.by[r] = firsts[n : n+1 : n+1]
			})
		}
	}
	return w
}

// positionOf returns the position of an instruction. ok is false if the instruction belongs to
// another function.
func (w *Writes) positionOf(in *ir.Instr) (at position, ok bool) {
	if w.at == nil {
		w.at = make(map[*ir.Instr]position)
		for i, b := range w.flow.Func.Blocks {
			for j, in := range b.Instrs {
				w.at[in] = position{i, j}
			}
		}
	}
	at, ok = w.at[in]
	return at, ok
}

// All returns every instruction that writes a register, in program order.
func (w *Writes) All(r *ir.Reg) []*ir.Instr {
	var list []*ir.Instr
	for _, one := range w.by[r] {
		list = append(list, one.in)
	}
	return slices.Compact(list) // a vector may name a register twice
}

// At returns the writes of register r whose value instruction in may read, in program order.
// unset reports whether the register may be undefined, because some path to the instruction does
// not write all of it. A parameter of the function is always defined. For an instruction of
// another function, list is empty and unset is true.
func (w *Writes) At(in *ir.Instr, r *ir.Reg) (list []*ir.Instr, unset bool) {
	to, ok := w.positionOf(in)
	if !ok {
		return nil, true
	}
	var found []write
	seen := make(map[int]bool)
	work := []position{to}
	for len(work) > 0 {
		from := work[len(work)-1]
		work = work[:len(work)-1]
		if w.appendWrites(r, from, &found) {
			continue
		}
		if from.block == 0 {
			unset = unset || !w.params[r]
		}
		for _, p := range w.flow.Preds[from.block] {
			if !seen[p] {
				seen[p] = true
				work = append(work, position{p, len(w.flow.Func.Blocks[p].Instrs)})
			}
		}
	}
	slices.SortFunc(found, func(a, b write) int {
		if a.block != b.block {
			return a.block - b.block
		}
		return a.index - b.index
	})
	for _, one := range found {
		list = append(list, one.in)
	}
	return slices.Compact(list), unset
}

// appendWrites appends to found the writes of a register in a block before a position, last write
// first. It reports whether one of them overwrites the whole register, so that earlier writes are
// not visible.
func (w *Writes) appendWrites(r *ir.Reg, before position, found *[]write) bool {
	all := w.by[r]
	i, _ := slices.BinarySearchFunc(all, before, func(one write, s position) int {
		if one.block != s.block {
			return one.block - s.block
		}
		return one.index - s.index
	})
	for i--; i >= 0 && all[i].block == before.block; i-- {
		*found = append(*found, all[i])
		if !all[i].partial {
			return true
		}
	}
	return false
}
