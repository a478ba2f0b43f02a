// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A style is a rule for choosing among free registers.
type style uint8

const (
	dense  style = iota // the lowest free register
	banked              // one in another bank than a register that is read by the same instruction
	rested              // and not one that a load or store may still have to read
)

// readDelay is the number of ops after which a memory access has certainly read its registers.
const readDelay = 16

// maxRegister bounds the search for free registers.
const maxRegister = 512

// stackRegister is the register of the stack pointer.
const stackRegister = 1

// An allocator assigns words to machine registers, block by block in scheduled order. The halves of
// a 64-bit value and the parts of a vector are adjacent and aligned; the style decides which free
// register is used. It finds registers that a count of live words misses.
type allocator struct {
	s        *words
	style    style
	room     int     // up to this many registers, the style is preferred to using few registers
	place    []int16 // register of each word, or -1
	group    []int32 // the group that a word is in, or -1, and its index in the group
	member   []uint8
	groups   []span
	busy     [maxRegister]int32 // the number of words that hold each register
	ready    [maxRegister]int32 // the op after which the register has certainly been read
	used     int                // highest register used so far, plus one
	crossing []bool             // words that need callee-saved registers, or nil if there are none
}

// A span is a group of words in adjacent registers.
type span struct {
	size int
	base int16 // first register, or -1
}

// setAside is the number of registers that ptxas -v counts in addition to those that instructions
// use, on all targets.
const setAside = 2

// allocators returns new allocators of the given styles, for a target with `full` registers per
// thread at full occupancy. If a subroutine may be called, ptxas uses as few registers as possible.
func (g *graph) allocators(full int, styles ...style) []*allocator {
	var list []*allocator
	for _, s := range styles {
		if g.slow > 0 {
			s = dense
		}
		a := newAllocator(g.words, s, full-setAside)
		for b := range g.ops {
			for i := range g.ops[b] {
				a.gather(&g.ops[b][i])
			}
		}
		list = append(list, a)
	}
	return list
}

func newAllocator(s *words, style style, room int) *allocator {
	a := &allocator{s: s, style: style, room: room, place: make([]int16, len(s.alias)),
		group: make([]int32, len(s.alias)), member: make([]uint8, len(s.alias)),
		used: stackRegister + 1}
	for i := range a.place {
		a.place[i], a.group[i] = -1, -1
	}
	return a
}

// gather finds the words of an op that must be adjacent: elements of a vector, and halves of 64-bit
// values.
func (a *allocator) gather(o *op) {
	for i := range o.in.Args {
		arg := &o.in.Args[i]
		if arg.Kind != ir.Vector {
			continue
		}
		switch n := a.count(arg); {
		case i == 0 && n == len(o.defs) && !sparse(o.in):
			a.join(o.defs)
		case i > 0 && i == len(o.in.Args)-1 && n <= len(o.uses):
			a.join(o.uses[len(o.uses)-n:])
		}
	}
	a.halves(o.defs)
	a.halves(o.uses)
}

// sparse reports whether ptxas writes only the used elements of the instruction's result vector.
func sparse(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadTex, isa.HeadTld4, isa.HeadSuld:
		return true
	}
	return false
}

// count returns the number of words of the registers in an operand.
func (a *allocator) count(o *ir.Operand) int {
	n := 0
	o.Walk(func(part *ir.Operand) {
		if r, ok := a.s.of(part.Reg); ok && part.Kind == ir.Register {
			n += int(a.s.width[r])
		}
	})
	return n
}

// halves joins consecutive words of the same register.
func (a *allocator) halves(list []word) {
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) &&
			(a.s.owner[list[j]] == a.s.owner[list[i]] || pairSums(a.s.target) &&
				a.s.lower(list[j]) == list[j-1]) {
			j++
		}
		a.join(list[i:j])
		i = j
	}
}

// join makes a group of words, unless one of them is already in a group.
func (a *allocator) join(list []word) {
	if len(list) < 2 {
		return
	}
	for _, w := range list {
		if w == noWord || a.s.class[w] != general || a.group[w] >= 0 {
			return
		}
	}
	n := int32(len(a.groups))
	a.groups = append(a.groups, span{len(list), -1})
	for i, w := range list {
		a.group[w], a.member[w] = n, uint8(min(i, 255))
	}
}

// block assigns registers to the words of a scheduled block. uses counts the uses of each word in
// the block, and stamp marks those that are live at its end.
func (a *allocator) block(ops []op, order []int32, t *tally, out []word, uses []int32, stamp []bool,
	users map[word][]int32) {
	clear(a.busy[:])
	clear(a.ready[:])
	a.busy[stackRegister] = 1
	a.enter(ops, order, t, out)
	for now, i := range order {
		o := &ops[i]
		a.reserveInternal(o, now)
		shared := o.slowly && o.memory == untouched
		for _, u := range o.uses {
			if shared {
				a.wait(u, now)
			}
			if uses[u]--; uses[u] == 0 && !stamp[u] {
				a.clearBlock(u)
			}
		}
		for _, d := range o.defs {
			if a.s.class[d] != general || sparse(o.in) && uses[d] == 0 && !stamp[d] {
				continue
			}
			if a.place[d] < 0 || a.busy[a.place[d]] == 0 || uses[d] == 0 && !stamp[d] {
				a.assignRegister(d, now, o, ops, users)
			}
			if uses[d] == 0 && !stamp[d] {
				a.clearBlock(d)
			}
		}
		if o.slowly && !shared {
			for _, u := range o.uses {
				// a loaded value may take the register of its own address
				a.wait(u, now)
			}
		}
	}
}

// wait keeps the register of a word reserved while a pending access may still read it.
func (a *allocator) wait(w word, now int) {
	if p := a.place[w]; p >= 0 {
		a.ready[p] = int32(now + readDelay)
	}
}

// reserveInternal reserves registers that an op needs internally. For a stored value, it is a
// register in another bank than the address.
func (a *allocator) reserveInternal(o *op, now int) {
	temps := o.temps
	if temps == 1 && o.memory != untouched && a.style != dense && len(o.uses) > 0 {
		a.used = max(a.used, a.choose(1, 1, now, 0)+1)
		return
	}
	for s := 0; s < maxRegister && temps > 0; s++ {
		if a.busy[s] == 0 {
			temps--
			a.used = max(a.used, s+1)
		}
	}
}

// enter assigns registers to the words that are live at the start of a block.
func (a *allocator) enter(ops []op, order []int32, t *tally, out []word) {
	t.start(out)
	for i := len(order) - 1; i >= 0; i-- {
		t.back(&ops[order[i]])
	}
	var late []word
	come := func(w word) {
		if t.live[w] != t.mark {
			return
		}
		t.live[w] = 0
		switch {
		case a.s.class[w] != general:
		case a.place[w] < 0 || a.busy[a.place[w]] > 0:
			late = append(late, w)
		default:
			a.busy[a.place[w]]++
		}
	}
	for _, w := range out {
		come(w)
	}
	for i := range ops {
		for _, u := range ops[i].uses {
			come(u)
		}
	}
	for _, w := range late {
		a.assignRegister(w, 0, nil, nil, nil)
	}
}

// clearBlock frees the register of a word.
func (a *allocator) clearBlock(w word) {
	if p := a.place[w]; p >= 0 && a.s.class[w] == general {
		a.busy[p] = 0
	}
}

// assignRegister assigns a register to a word that op o defines, or that is live at the start of
// the block.
func (a *allocator) assignRegister(w word, now int, o *op, ops []op, users map[word][]int32) {
	if g := a.group[w]; g >= 0 {
		if a.groups[g].base < 0 && o != nil {
			a.groups[g].base = a.inherit(w, o)
		}
		if a.groups[g].base < 0 || a.busy[a.groups[g].base+int16(a.member[w])] > 0 {
			a.groups[g].base = int16(a.choose(a.groups[g].size, -1, now, a.from(w)))
		}
		a.appendBlock(w, int(a.groups[g].base)+int(a.member[w]))
		return
	}
	bank := -1
	if a.style != dense {
		bank = a.bank(w, ops, users)
	}
	a.appendBlock(w, a.choose(1, bank, now, a.from(w)))
}

// from returns the lowest register that may hold a word: callee-saved registers are for words that
// are live across a call.
func (a *allocator) from(w word) int {
	if int(w) < len(a.crossing) && a.crossing[w] {
		return savedFirst
	}
	return 0
}

// inherit returns the start of adjacent registers for the group of word w, so that w takes the
// register of an operand of o that is not used later; -1 if there are none. The operand must have
// the same index in a group of the same size, as when a vector is computed from another.
func (a *allocator) inherit(w word, o *op) int16 {
	for _, u := range o.uses {
		if g := a.group[u]; g >= 0 && a.member[u] == a.member[w] &&
			a.groups[g].size == a.groups[a.group[w]].size && a.place[u] >= 0 &&
			a.busy[a.place[u]] == 0 {
			return a.groups[g].base
		}
	}
	return -1
}

func (a *allocator) appendBlock(w word, register int) {
	register = min(register, maxRegister-1)
	a.place[w] = int16(register)
	a.busy[register]++
	a.used = max(a.used, register+1)
}

// bank returns the register bank in which a word should be: 0 for even and 1 for odd registers, or
// -1 if it does not matter. It depends on the operands that are read together with the word.
func (a *allocator) bank(w word, ops []op, users map[word][]int32) int {
	var count [2]int
	list := users[w]
	for _, i := range list[:min(len(list), 4)] {
		for _, u := range ops[i].uses {
			switch p := a.place[u]; {
			case u == w:
			case a.group[u] >= 0:
				if a.member[u] == 0 {
					count[0]++ // not assigned yet: count both banks
				}
			case p >= 0 && a.busy[p] > 0:
				count[p&1]++
			}
		}
	}
	switch {
	case count[0] > count[1]:
		return 1
	case count[1] > count[0]:
		return 0
	}
	return -1
}

// choose finds free adjacent registers, starting at `from`.
func (a *allocator) choose(size, bank, now, from int) int {
	step := 1
	for step < size && step < 4 {
		step *= 2
	}
	look := func(bank int, rested bool, room int) int {
	next:
		for s := from; s+size <= room; s += step {
			if from > 0 && s <= returnFirst+1 && s+size > returnFirst {
				continue
			}
			if bank >= 0 && s&1 != bank {
				continue
			}
			for i := s; i < s+size; i++ {
				if a.busy[i] > 0 || rested && int(a.ready[i]) > now {
					continue next
				}
			}
			return s
		}
		return -1
	}
	room := min(a.room, maxRegister)
	if a.style == rested {
		if s := look(bank, true, room); s >= 0 {
			return s
		}
		if s := look(-1, true, room); s >= 0 {
			return s
		}
	}
	if a.style != dense {
		if s := look(bank, false, room); s >= 0 {
			return s
		}
	}
	if s := look(-1, false, maxRegister); s >= 0 {
		return s
	}
	return maxRegister - size
}
