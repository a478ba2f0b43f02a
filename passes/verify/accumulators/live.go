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

// A liveRegisters tracks which accumulator registers are live at a point in the kernel. A
// register is live if it may have been written before the point and may be read after it.
type liveRegisters struct {
	*annotated.Pass
	number        map[*ir.Reg]int
	words         []int // number of words of each register
	accumulatorOf []int // index of the accumulator to which each register belongs
	// index of the instruction in the current block after which the register may be written, or
	// -1 if it may be written before the block
	writtenAfter []int
	declares     map[*ir.Instr]int
	live         passes.Set
	liveWords    int // number of 32-bit words in live
}

func newLiveRegisters(p *annotated.Pass) *liveRegisters {
	h := &liveRegisters{Pass: p, number: make(map[*ir.Reg]int), declares: make(map[*ir.Instr]int)}
	for i := range p.Notes.Accumulators {
		if clear := p.Notes.Accumulators[i].Clear; clear != nil {
			h.declares[clear] = i
		}
		h.eachRegister(i, func(r *ir.Reg) {
			h.number[r] = len(h.accumulatorOf)
			h.accumulatorOf, h.words = append(h.accumulatorOf, i),
				append(h.words, max(1, r.Type.Bits()/32))
		})
	}
	h.live = make(passes.Set, (len(h.accumulatorOf)+63)/64)
	h.writtenAfter = make([]int, len(h.accumulatorOf))
	return h
}

// eachRegister calls visit for every register of the accumulator with the given index.
func (h *liveRegisters) eachRegister(accumulator int, visit func(*ir.Reg)) {
	for _, part := range h.Notes.Accumulators[accumulator].Registers {
		for _, r := range part {
			visit(r)
		}
	}
}

// stepBack updates the live registers from the point after instruction in to the point before it.
// The instructions of a block are visited backward. The parameter at is the index of in.
func (h *liveRegisters) stepBack(in *ir.Instr, at int) {
	remove := func(n int) {
		if h.live.Has(n) {
			h.live.Remove(n)
			h.liveWords -= h.words[n]
		}
	}
	if i, ok := h.declares[in]; ok {
		h.eachRegister(i, func(r *ir.Reg) { remove(h.number[r]) })
		return
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := h.number[r]; ok && a != isa.Read &&
			(h.writtenAfter[n] == at || a == isa.Write && in.Guard.Reg == nil) {
			remove(n)
		}
	})
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := h.number[r]; ok && a != isa.Write && h.writtenAfter[n] < at && !h.live.Has(n) {
			h.live.Add(n)
			h.liveWords += h.words[n]
		}
	})
}

// enterBlock initializes the state at the end of block b: where each register is first written in
// b, and which registers are live.
func (h *liveRegisters) enterBlock(g *ir.Flow, b int, written, read passes.Set) {
	block := g.Func.Blocks[b]
	for n := range h.writtenAfter {
		h.writtenAfter[n] = len(block.Instrs)
		if written.Has(n) {
			h.writtenAfter[n] = -1
		}
	}
	for i, in := range block.Instrs {
		if born, ok := h.declares[in]; ok {
			h.eachRegister(born,
				func(r *ir.Reg) { h.writtenAfter[h.number[r]] = len(block.Instrs) })
		}
		in.Registers(func(r *ir.Reg, a isa.Access) {
			if n, ok := h.number[r]; ok && a != isa.Read {
				h.writtenAfter[n] = min(h.writtenAfter[n], i)
			}
		})
	}
	clear(h.live)
	h.liveWords = 0
	for n, from := range h.writtenAfter {
		if from < len(block.Instrs) && read.Has(n) {
			h.live.Add(n)
			h.liveWords += h.words[n]
		}
	}
}

// check makes two passes. A forward pass finds where accumulators may have been written, and a
// backward pass finds which are read later.
func (h *liveRegisters) check() {
	g := ir.FlowOf(h.Func)
	words := len(h.live)
	room := make(passes.Set, 2*words*len(h.Func.Blocks))
	written, read := make([]passes.Set, len(h.Func.Blocks)), make([]passes.Set, len(h.Func.Blocks))
	for b := range written {
		written[b] = room[2*b*words:][:words]  // at the start of the block
		read[b] = room[(2*b+1)*words:][:words] // at the end of the block
	}
	h.forward(g, written, read)
	h.backward(g, written, read)
	h.report(g, written, read)
}

func (h *liveRegisters) forward(g *ir.Flow, written, read []passes.Set) {
	for changed := true; changed; {
		changed = false
		for b, block := range h.Func.Blocks {
			h.enterBlock(g, b, written[b], read[b])
			for n, from := range h.writtenAfter {
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

func (h *liveRegisters) backward(g *ir.Flow, written, read []passes.Set) {
	for changed := true; changed; {
		changed = false
		for b, block := range slices.Backward(h.Func.Blocks) {
			h.enterBlock(g, b, written[b], read[b])
			for i, in := range slices.Backward(block.Instrs) {
				h.stepBack(in, i)
			}
			for _, p := range g.Preds[b] {
				changed = merge(read[p], h.live) || changed
			}
		}
	}
}

// report makes at most one finding per role, at the first point at which too many accumulators
// are live.
func (h *liveRegisters) report(g *ir.Flow, written, read []passes.Set) {
	reported := make(map[*ir.Role]bool)
	var current *ir.Role // the role with a register budget that contains the current block
	for b, block := range h.Func.Blocks {
		if current != nil && block == current.End {
			current = nil
		}
		for _, r := range h.Notes.Roles {
			if r.Budgeted && r.Head == block {
				current = r
			}
		}
		h.enterBlock(g, b, written[b], read[b])
		for i, in := range slices.Backward(block.Instrs) {
			if h.stepBack(in, i); !reported[current] {
				reported[current] = h.reportExcess(current)
			}
		}
	}
}

// merge adds the elements of from to the set to, and reports whether to has grown.
func merge(to, from passes.Set) (more bool) {
	for i, w := range from {
		more = more || w&^to[i] != 0
		to[i] |= w
	}
	return more
}

// reportExcess reports that the live accumulators need more registers than role r or the launch
// allows, and returns whether it did. The finding is at the last declared of the live
// accumulators.
func (h *liveRegisters) reportExcess(r *ir.Role) bool {
	n, who := registerLimit(h.Func)
	if r != nil {
		n, who = r.Registers,
			"the register budget of role "+r.Name+" (Regs) is "+strconv.Itoa(r.Registers)
	}
	if h.liveWords < n {
		return false
	}
	last := -1
	for i, of := range h.accumulatorOf {
		if h.live.Has(i) {
			last = max(last, of)
		}
	}
	h.Warn(h.Notes.Accumulators[last].Pos, &annotated.Role,
		"live accumulators need %d registers per thread, but %s: ptxas would spill, or ignore setmaxnreg; use more warps with smaller accumulators",
		h.liveWords, who)
	return true
}
