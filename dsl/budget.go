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

// Sums stay in registers from the first product on to where they are stored, whatever else a thread does. Where they alone take all that a role's budget
// or the launch gives, the assembler has no choice: it keeps numbers in local memory, or leaves setmaxnreg out.

// heldSums are the registers of an accumulator, or of a warp's tile.
type heldSums struct {
	pos   ir.Pos
	role  *role     // that made them
	born  *ir.Instr // makes them empty: what they held before is not read
	words int
	takes *int // how often products and Clear name each of the registers; nil where others read them too
	first int  // how often they are named besides, before that
	each  func(visit func(*ir.Reg))
}

// holdsSums notes sums.
func (k *Kernel) holdsSums(s heldSums) {
	s.role = k.role
	k.holding = append(k.holding, s)
}

// wordsOf is the registers of 32 bits that a value of a type takes.
func wordsOf(t isa.Type) int { return max(1, t.Bits()/32) }

// mostRegs is how many registers a thread has at most, and what says so.
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

// checkBudgets reports sums that a thread has no registers for.
func (k *Kernel) checkBudgets() {
	if len(k.holding) == 0 {
		return
	}
	common := 0 // words of those that no role with a budget made
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
	if many { // so many are seldom there, and if they are it takes a look which are held at once
		k.newHolding().check()
	}
}

// A holding is which registers of sums are read later, and have been written, wherever one is in a kernel.
type holding struct {
	k      *Kernel
	number map[*ir.Reg]int
	words  []int // that a register takes
	of     []int // the sums that it is of
	from   []int // in the block at hand, behind which instruction it may have been written: -1 where it may before
	born   map[*ir.Instr]int
	live   passes.Set
	held   int // words of those in live
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

// before goes back over an instruction of a block.
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

// at begins a block: where its registers are written first, and which are read behind it.
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

// check goes over the kernel: first forward, for where sums may have been written, and then back, for where they are read later.
func (h *holding) check() {
	blocks, words := h.k.f.Blocks, len(h.live)
	g := ir.FlowOf(h.k.f)
	room := make(passes.Set, 2*words*len(blocks))
	written := func(b int) passes.Set { return room[2*b*words:][:words] }  // at its start
	read := func(b int) passes.Set { return room[(2*b+1)*words:][:words] } // at its end
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
	var here *role // whose blocks these are
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

// merged adds a set to another, and reports whether that has more then.
func merged(to, from passes.Set) (more bool) {
	for i, w := range from {
		more = more || w&^to[i] != 0
		to[i] |= w
	}
	return more
}

// tooMany reports more sums than a role has registers for, or than the launch gives. The last of them that the kernel makes is where that is told.
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
