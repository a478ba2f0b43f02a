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

// Writes are the register writes of one function. They are valid until the function changes.
type Writes struct {
	flow  *ir.Flow
	at    map[*ir.Instr]spot  // nil until it is needed
	by    map[*ir.Reg][]write // in program order
	given map[*ir.Reg]bool    // parameters of the function
}

// A spot is the position of an instruction.
type spot struct{ block, index int }

// A write is an instruction that writes a register. A guarded or partial write keeps earlier writes
// visible.
type write struct {
	spot
	in   *ir.Instr
	part bool
}

// Of finds the register writes of a function.
func Of(g *ir.Flow) *Writes {
	w := &Writes{flow: g, by: make(map[*ir.Reg][]write, len(g.Func.Regs)),
		given: make(map[*ir.Reg]bool)}
	for _, v := range g.Func.Params {
		if v.Reg != nil {
			w.given[v.Reg] = true
		}
	}
	var firsts []write // most registers are written once
	for i, b := range g.Func.Blocks {
		for j, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a == isa.Read {
					return
				}
				one := write{spot{i, j}, in, a == isa.ReadWrite}
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

// spot returns the position of an instruction. It returns ok = false for one of another function.
func (w *Writes) spot(in *ir.Instr) (at spot, ok bool) {
	if w.at == nil {
		w.at = make(map[*ir.Instr]spot)
		for i, b := range w.flow.Func.Blocks {
			for j, in := range b.Instrs {
				w.at[in] = spot{i, j}
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

// At returns the writes of a register whose value an instruction may read, in program order. The
// result unset reports that the register may be undefined there, because some path to the
// instruction does not write all of it. A parameter of the function is always defined. For an
// instruction of another function, both results are empty.
func (w *Writes) At(in *ir.Instr, r *ir.Reg) (list []*ir.Instr, unset bool) {
	to, ok := w.spot(in)
	if !ok {
		return nil, true
	}
	var found []write
	seen := make(map[int]bool)
	work := []spot{to}
	for len(work) > 0 {
		from := work[len(work)-1]
		work = work[:len(work)-1]
		if w.back(r, from, &found) {
			continue
		}
		if from.block == 0 {
			unset = unset || !w.given[r]
		}
		for _, p := range w.flow.Preds[from.block] {
			if !seen[p] {
				seen[p] = true
				work = append(work, spot{p, len(w.flow.Func.Blocks[p].Instrs)})
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

// back adds the writes of a register in a block before a position, last first, and reports whether
// one of them hides all earlier ones.
func (w *Writes) back(r *ir.Reg, before spot, found *[]write) bool {
	all := w.by[r]
	i, _ := slices.BinarySearchFunc(all, before, func(one write, s spot) int {
		if one.block != s.block {
			return one.block - s.block
		}
		return one.index - s.index
	})
	for i--; i >= 0 && all[i].block == before.block; i-- {
		*found = append(*found, all[i])
		if !all[i].part {
			return true
		}
	}
	return false
}
