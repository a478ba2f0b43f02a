// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes"
)

// Accumulators stay in registers from the first MMA to their store. If they alone need all
// registers that the budget of a role or the launch allows, ptxas must spill them or ignore
// setmaxnreg.

// heldAccumulator describes the registers of an accumulator or of a warp tile.
type heldAccumulator struct {
	pos   ir.Pos
	role  *role     // role that declared them
	born  *ir.Instr // the instruction that clears them; earlier contents are not read
	words int
	// number of MMA and Clear operands that name each register; nil if other code also reads them
	takes *int
	first int // the number of such operands before the accumulator was created
	each  func(visit func(*ir.Reg))
}

// holdsAccumulator records the registers of an accumulator.
func (k *Kernel) holdsAccumulator(s heldAccumulator) {
	s.role = k.role
	k.holding = append(k.holding, s)
}

// wordsOf returns the number of 32-bit registers that a value of type t takes.
func wordsOf(t isa.Type) int { return max(1, t.Bits()/32) }

// mostRegs returns the largest number of registers per thread, and what limits it.
func (k *Kernel) mostRegs() (n int, who string) {
	n, who = 255, "a thread has at most 255"
	if t := max(k.BlockThreads(), k.most); t > 0 {
		if all := t * max(1, k.blocks); 65536/all/8*8 < n {
			n = 65536 / all / 8 * 8
			who = strconv.Itoa(all) + " threads of a multiprocessor have " + strconv.Itoa(n) + " each"
		}
	}
	if a := k.f.Attr(".maxnreg"); a != nil {
		if most, err := strconv.Atoi(strings.TrimSpace(a.Text)); err == nil && most < n {
			n, who = most, "MaxRegs allows "+a.Text
		}
	}
	return n, who
}

// checkBudgets reports accumulators that need more registers than a thread has.
func (k *Kernel) checkBudgets() {
	if len(k.holding) == 0 {
		return
	}
	common := 0 // registers of accumulators that were declared outside roles with a budget
	for _, s := range k.holding {
		if s.role == nil || s.role.regs == 0 {
			common += s.words
		}
	}
	most, _ := k.mostRegs()
	many := common >= most
	for _, r := range k.budgets {
		all := common
		for _, s := range k.holding {
			if s.role == r {
				all += s.words
			}
		}
		many = many || all >= r.regs
	}
	if many { // only then is liveness worth computing
		k.newHolding().check()
	}
}

// A holding tracks which accumulator registers are live at a point of the kernel: already written,
// and read later.
type holding struct {
	k      *Kernel
	number map[*ir.Reg]int
	words  []int // number of words of each register
	of     []int // index of each register's accumulator
	// index of the instruction in the current block after which the register may be written; -1 if
	// before the block
	from []int
	born map[*ir.Instr]int
	live passes.Set
	held int // total words in live
}

func (k *Kernel) newHolding() *holding {
	h := &holding{k: k, number: make(map[*ir.Reg]int), born: make(map[*ir.Instr]int)}
	for i, s := range k.holding {
		if s.born != nil {
			h.born[s.born] = i
		}
		s.each(func(r *ir.Reg) {
			h.number[r] = len(h.of)
			h.of, h.words = append(h.of, i), append(h.words, wordsOf(r.Type))
		})
	}
	h.live = make(passes.Set, (len(h.of)+63)/64)
	h.from = make([]int, len(h.of))
	return h
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
		h.k.holding[i].each(func(r *ir.Reg) { remove(h.number[r]) })
		return
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, ok := h.number[r]; ok && a != isa.Read && (h.from[n] == at || a == isa.Write && in.Guard.Reg == nil) {
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

// at starts a block: it computes where each register is first written, and which are live at the
// end.
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
			h.k.holding[born].each(func(r *ir.Reg) { h.from[h.number[r]] = len(block.Instrs) })
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

// check makes a forward pass, which finds where accumulators may have been written, and then a
// backward pass, which finds which are read later.
func (h *holding) check() {
	blocks, words := h.k.f.Blocks, len(h.live)
	g := ir.FlowOf(h.k.f)
	room := make(passes.Set, 2*words*len(blocks))
	written := func(b int) passes.Set { return room[2*b*words:][:words] }  // at the start of block b
	read := func(b int) passes.Set { return room[(2*b+1)*words:][:words] } // at the end of block b
	for changed := true; changed; {
		changed = false
		for b := range blocks {
			h.at(g, b, written(b), read(b))
			for n, from := range h.from {
				for _, s := range g.Succs[b] {
					if from < len(blocks[b].Instrs) && !written(s).Has(n) {
						written(s).Add(n)
						changed = true
					}
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for b := len(blocks) - 1; b >= 0; b-- {
			h.at(g, b, written(b), read(b))
			for i, in := range slices.Backward(blocks[b].Instrs) {
				h.before(in, i)
			}
			for _, p := range g.Preds[b] {
				changed = merged(read(p), h.live) || changed
			}
		}
	}
	told := make(map[*role]bool)
	var here *role // the role of the current block
	for b, block := range blocks {
		if here != nil && block == here.end {
			here = nil
		}
		if i := slices.IndexFunc(h.k.budgets, func(r *role) bool { return r.head == block }); i >= 0 {
			here = h.k.budgets[i]
		}
		h.at(g, b, written(b), read(b))
		for i, in := range slices.Backward(block.Instrs) {
			if h.before(in, i); !told[here] {
				told[here] = h.tooMany(here)
			}
		}
	}
}

// merged adds the set from to the set to, and reports whether to grew.
func merged(to, from passes.Set) (more bool) {
	for i, w := range from {
		more = more || w&^to[i] != 0
		to[i] |= w
	}
	return more
}

// tooMany reports accumulators that need more registers than a role or the launch allows. The
// finding is at the last accumulator.
func (h *holding) tooMany(r *role) bool {
	n, who := h.k.mostRegs()
	if r != nil {
		n, who = r.regs, "the register budget of role "+r.name+" (Regs) is "+strconv.Itoa(r.regs)
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
	rule := ruleRole
	rule.Severity = diag.Warning
	h.k.m.faultAt(h.k.holding[last].pos, &rule, "live accumulators need %d registers per thread, but %s: ptxas would spill, or ignore setmaxnreg; "+
		"use more warps, with smaller accumulators each", h.held, who)
	return true
}
