// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package accumulators

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// A holding tracks which accumulator registers are live at a point of the kernel: already written,
// and read later.
type holding struct {
	*annotated.Pass
	number map[*ir.Reg]int
	words  []int // number of words of each register
	of     []int // index of each register's accumulator
	// index of the instruction in the current block after which the register may be written, or -1
	// if before the block
	from []int
	born map[*ir.Instr]int
	live passes.Set
	held int // total words in live
}

func newHolding(p *annotated.Pass) *holding {
	h := &holding{Pass: p, number: make(map[*ir.Reg]int), born: make(map[*ir.Instr]int)}
	for i := range p.Notes.Accumulators {
		if clear := p.Notes.Accumulators[i].Clear; clear != nil {
			h.born[clear] = i
		}
		h.each(i, func(r *ir.Reg) {
			h.number[r] = len(h.of)
			h.of, h.words = append(h.of, i), append(h.words, max(1, r.Type.Bits()/32))
		})
	}
	h.live = make(passes.Set, (len(h.of)+63)/64)
	h.from = make([]int, len(h.of))
	return h
}

// each calls visit for every register of an accumulator.
func (h *holding) each(accumulator int, visit func(*ir.Reg)) {
	for _, part := range h.Notes.Accumulators[accumulator].Registers {
		for _, r := range part {
			visit(r)
		}
	}
}

// before updates the live registers for the point before an instruction. Instructions of a block
// are visited backward.
func (h *holding) before(in *ir.Instr, at int) {
	remove := func(n int) {
		if h.live.Has(n) {
			h.live.Remove(n)
			h.held -= h.words[n]
		}
	}
	if i, ok := h.born[in]; ok {
		h.each(i, func(r *ir.Reg) { remove(h.number[r]) })
		return
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := h.number[r]; ok && a != isa.Read &&
			(h.from[n] == at || a == isa.Write && in.Guard.Reg == nil) {
			remove(n)
		}
	})
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := h.number[r]; ok && a != isa.Write && h.from[n] < at && !h.live.Has(n) {
			h.live.Add(n)
			h.held += h.words[n]
		}
	})
}

// at initializes the state for a basic block: where each register is first written, and which
// registers are live at the end.
func (h *holding) at(g *ir.Flow, b int, written, read passes.Set) {
	block := g.Func.Blocks[b]
	for n := range h.from {
		h.from[n] = len(block.Instrs)
		if written.Has(n) {
			h.from[n] = -1
		}
	}
	for i, in := range block.Instrs {
		if born, ok := h.born[in]; ok {
			h.each(born, func(r *ir.Reg) { h.from[h.number[r]] = len(block.Instrs) })
		}
		in.Registers(func(r *ir.Reg, a isa.Access) {
			if n, ok := h.number[r]; ok && a != isa.Read {
				h.from[n] = min(h.from[n], i)
			}
		})
	}
	clear(h.live)
	h.held = 0
	for n, from := range h.from {
		if from < len(block.Instrs) && read.Has(n) {
			h.live.Add(n)
			h.held += h.words[n]
		}
	}
}

// check makes two passes. A forward pass finds where accumulators may have been written, and a
// backward pass finds which are read later.
func (h *holding) check() {
	g := ir.FlowOf(h.Func)
	words := len(h.live)
	room := make(passes.Set, 2*words*len(h.Func.Blocks))
	written, read := make([]passes.Set, len(h.Func.Blocks)), make([]passes.Set, len(h.Func.Blocks))
	for b := range written {
		written[b] = room[2*b*words:][:words]  // at the start of the block
		read[b] = room[(2*b+1)*words:][:words] // at its end
	}
	h.forward(g, written, read)
	h.backward(g, written, read)
	h.report(g, written, read)
}

func (h *holding) forward(g *ir.Flow, written, read []passes.Set) {
	for changed := true; changed; {
		changed = false
		for b, block := range h.Func.Blocks {
			h.at(g, b, written[b], read[b])
			for n, from := range h.from {
				for _, s := range g.Succs[b] {
					if from < len(block.Instrs) && !written[s].Has(n) {
						written[s].Add(n)
						changed = true
					}
				}
			}
		}
	}
}

func (h *holding) backward(g *ir.Flow, written, read []passes.Set) {
	for changed := true; changed; {
		changed = false
		for b, block := range slices.Backward(h.Func.Blocks) {
			h.at(g, b, written[b], read[b])
			for i, in := range slices.Backward(block.Instrs) {
				h.before(in, i)
			}
			for _, p := range g.Preds[b] {
				changed = merged(read[p], h.live) || changed
			}
		}
	}
}

// report reports the first point of each role at which too many accumulators are live.
func (h *holding) report(g *ir.Flow, written, read []passes.Set) {
	reported := make(map[*ir.Role]bool)
	var here *ir.Role // the role with a budget that contains the current block
	for b, block := range h.Func.Blocks {
		if here != nil && block == here.End {
			here = nil
		}
		for _, r := range h.Notes.Roles {
			if r.Budgeted && r.Head == block {
				here = r
			}
		}
		h.at(g, b, written[b], read[b])
		for i, in := range slices.Backward(block.Instrs) {
			if h.before(in, i); !reported[here] {
				reported[here] = h.tooMany(here)
			}
		}
	}
}

// merged adds the elements of from to the set to, and reports whether to has grown.
func merged(to, from passes.Set) (more bool) {
	for i, w := range from {
		more = more || w&^to[i] != 0
		to[i] |= w
	}
	return more
}

// tooMany reports accumulators that need more registers than a role or the launch allows. The
// finding is at the last accumulator.
func (h *holding) tooMany(r *ir.Role) bool {
	n, who := mostRegisters(h.Func)
	if r != nil {
		n, who = r.Registers,
			"the register budget of role "+r.Name+" (Regs) is "+strconv.Itoa(r.Registers)
	}
	if h.held < n {
		return false
	}
	last := -1
	for i, of := range h.of {
		if h.live.Has(i) {
			last = max(last, of)
		}
	}
	h.Warn(h.Notes.Accumulators[last].Pos, &annotated.Role,
		"live accumulators need %d registers per thread, but %s: ptxas would spill, or ignore setmaxnreg; use more warps with smaller accumulators",
		h.held, who)
	return true
}
