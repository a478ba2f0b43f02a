// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A use is a place where a register is read.
type use struct {
	in *ir.Instr
	at *ir.Operand // the register itself, within in's operands; nil for a guard
	to *ir.Operand // the operand of in that it is, or is a part of
}

// defs are the registers of a function with what writes and reads them.
type defs struct {
	before *over
	writer map[*ir.Reg]*ir.Instr // of registers that one instruction writes, whole and without a guard
	uses   map[*ir.Reg][]use
}

// defsOf finds what writes and reads the registers of f. A register has a writer if one instruction writes
// it, and every way to a place where it is read leads over that one. Then, where it is read, what it was
// computed from still has the same value, as long as that has writers too.
func defsOf(f *ir.Func) *defs {
	d := &defs{before: newOver(f), writer: make(map[*ir.Reg]*ir.Instr, len(f.Regs)), uses: make(map[*ir.Reg][]use, len(f.Regs))}
	writes := make(map[*ir.Reg]int, len(f.Regs))
	for _, vars := range [][]*ir.Var{f.Params, f.Results} {
		for _, v := range vars {
			if v.Reg != nil {
				writes[v.Reg] += 2
			}
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
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
					if r := o.Reg(); r != nil && !(result && written[r]) {
						d.uses[r] = append(d.uses[r], use{in, o, to})
					}
				})
			}
		}
	}
	for r, n := range writes {
		if n != 1 || !d.before.all(d.writer[r], d.uses[r]) {
			delete(d.writer, r)
		}
	}
	return d
}

// block is the number of the block that an instruction stands in.
func (d *defs) block(in *ir.Instr) int { return d.before.at[in].block }

// over knows which instructions every way to another leads over.
type over struct {
	at   map[*ir.Instr]spot
	idom []int // of each block, the last block that every way to it leads over; -1 where none leads
	rank []int // of each block in an order in which these come first
}

type spot struct{ block, index int }

func newOver(f *ir.Func) *over {
	g := ir.FlowOf(f)
	o := &over{at: make(map[*ir.Instr]spot), idom: make([]int, len(f.Blocks)), rank: make([]int, len(f.Blocks))}
	for b := range f.Blocks {
		o.idom[b] = -1
		for i, in := range f.Blocks[b].Instrs {
			o.at[in] = spot{b, i}
		}
	}
	order := g.Order()
	for i, b := range order {
		o.rank[b] = i
	}
	if len(order) > 0 {
		o.idom[0] = 0
	}
	for changed := true; changed; {
		changed = false
		for _, b := range order {
			if b == 0 {
				continue
			}
			best := -1
			for _, p := range g.Preds[b] {
				switch {
				case o.idom[p] < 0:
				case best < 0:
					best = p
				default:
					best = o.meet(best, p)
				}
			}
			if best != o.idom[b] {
				o.idom[b] = best
				changed = true
			}
		}
	}
	return o
}

// meet is the last block that all ways to both lead over.
func (o *over) meet(a, b int) int {
	for a != b {
		for o.rank[a] > o.rank[b] {
			a = o.idom[a]
		}
		for o.rank[b] > o.rank[a] {
			b = o.idom[b]
		}
	}
	return a
}

// all reports whether every way to each use leads over an instruction.
func (o *over) all(in *ir.Instr, uses []use) bool {
	from, ok := o.at[in]
	if !ok || o.idom[from.block] < 0 {
		return false
	}
	for _, u := range uses {
		to := o.at[u.in]
		if to.block == from.block {
			if to.index <= from.index {
				return false
			}
			continue
		}
		b := to.block
		if o.idom[b] < 0 {
			return false
		}
		for b != from.block && b != 0 {
			b = o.idom[b]
		}
		if b != from.block {
			return false
		}
	}
	return true
}

// resultOf reports whether operand i of an instruction is a result.
func resultOf(in *ir.Instr, i int) bool {
	if in.Head() == "call" {
		return i == 0 && len(in.Args) > 1 && in.Args[0].Kind == ir.Group
	}
	return in.Form != nil && i < len(in.Form.Args) && in.Form.Args[i].Access != isa.Read
}

// whole is the register that an operand is, all of it and nothing added, or nil.
func whole(o *ir.Operand) *ir.Reg {
	if o.Kind != ir.Register || o.Text != "" || o.Not || o.Minus || o.Offset() {
		return nil
	}
	return o.Reg()
}

// dropped takes instructions out of a function. Comments that stood before them go to what follows.
func dropped(f *ir.Func, gone map[*ir.Instr]bool) {
	for _, b := range f.Blocks {
		var kept []*ir.Instr
		var doc []string
		for _, in := range b.Instrs {
			if gone[in] {
				doc = append(doc, in.Doc...)
				continue
			}
			if len(doc) > 0 {
				in.Doc = append(doc, in.Doc...)
				doc = nil
			}
			kept = append(kept, in)
		}
		if len(doc) > 0 && len(kept) > 0 {
			kept[len(kept)-1].Doc = append(kept[len(kept)-1].Doc, doc...)
		}
		b.Instrs = kept
	}
}
