// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// A use is a read of a register.
type use struct {
	in *ir.Instr
	at *ir.Operand // the register operand, or nil for a guard
	to *ir.Operand // the operand of in that contains it
}

// defs holds the definitions and uses of a function's registers.
type defs struct {
	at  map[*ir.Instr]spot
	dom *graph.Tree
	// for registers that exactly one instruction writes, completely and without a guard
	writer map[*ir.Reg]*ir.Instr
	uses   map[*ir.Reg][]use
}

// defsOf finds the writers and readers of the registers of f. A register has a writer if exactly
// one instruction writes it and dominates all its uses. Then its operands still have the same value
// at each use, as long as they have writers too.
func defsOf(f *ir.Func) *defs {
	g := ir.FlowOf(f)
	d := &defs{
		at:     make(map[*ir.Instr]spot),
		dom:    graph.Dominators(g.Succs, g.Preds),
		writer: make(map[*ir.Reg]*ir.Instr, len(f.Regs)),
		uses:   make(map[*ir.Reg][]use, len(f.Regs)),
	}
	writes := make(map[*ir.Reg]int, len(f.Regs))
	for _, vars := range [][]*ir.Var{f.Params, f.Results} {
		for _, v := range vars {
			if v.Reg != nil {
				writes[v.Reg] += 2
			}
		}
	}
	for i, b := range f.Blocks {
		for j, in := range b.Instrs {
			d.at[in] = spot{i, j}
			written := make(map[*ir.Reg]bool, 2)
			in.Registers(func(r *ir.Reg, a isa.Access) {
				switch a {
				case isa.Write:
					d.writer[r] = in
					writes[r]++
					written[r] = true
				case isa.ReadWrite:
					writes[r] += 2
				}
			})
			if r := in.Guard.Reg; r != nil {
				d.uses[r] = append(d.uses[r], use{in: in})
			}
			for i := range in.Args {
				to := &in.Args[i]
				result := to.Kind != ir.Address && resultOf(in, i)
				to.Walk(func(o *ir.Operand) {
					if r := o.Reg; r != nil && !(result && written[r]) {
						d.uses[r] = append(d.uses[r], use{in, o, to})
					}
				})
			}
		}
	}
	for r, n := range writes {
		if n != 1 || !d.before(d.writer[r], d.uses[r]) {
			delete(d.writer, r)
		}
	}
	return d
}

// A spot is the position of an instruction.
type spot struct{ block, index int }

// before reports whether an instruction precedes each use on every path.
func (d *defs) before(in *ir.Instr, uses []use) bool {
	from := d.at[in]
	for _, u := range uses {
		to := d.at[u.in]
		if to.block == from.block && to.index <= from.index || !d.dom.Has(from.block, to.block) {
			return false
		}
	}
	return true
}

// resultOf reports whether operand i of an instruction is a result.
func resultOf(in *ir.Instr, i int) bool {
	if in.Kind() == isa.KindCall {
		return i == 0 && len(in.Args) > 1 && in.Args[0].Kind == ir.Group
	}
	return in.Form != nil && i < len(in.Form.Args) && in.Form.Args[i].Access != isa.Read
}

// wholeRegister returns the register if an operand is exactly one register without modification, or
// nil.
func wholeRegister(o *ir.Operand) *ir.Reg {
	if o.Kind != ir.Register || o.Text() != "" || o.Not || o.Minus || o.Offset() {
		return nil
	}
	return o.Reg
}

// dropInstrs removes instructions from a function. Comments before them move to the next
// instruction.
func dropInstrs(f *ir.Func, gone map[*ir.Instr]bool) {
	for _, b := range f.Blocks {
		var kept []*ir.Instr
		var doc []string
		for _, in := range b.Instrs {
			if gone[in] {
				doc = append(doc, in.Doc()...)
				continue
			}
			if len(doc) > 0 {
				in.Comment(append(doc, in.Doc()...), in.Note())
				doc = nil
			}
			kept = append(kept, in)
		}
		if len(doc) > 0 && len(kept) > 0 {
			last := kept[len(kept)-1]
			last.Comment(slices.Concat(last.Doc(), doc), last.Note())
		}
		b.Instrs = kept
	}
}
