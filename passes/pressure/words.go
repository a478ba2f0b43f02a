// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A word is a 32-bit part of a virtual register, or a smaller register: the content of one hardware
// register. Words are numbered per function.
type word int32

// noWord is the word of a value that needs no register: a constant, or a value in the constant
// bank.
const noWord word = -1

// A class specifies which kind of hardware register holds a word.
type class uint8

const (
	general   class = iota
	uniform         // one value per warp, computed by the uniform datapath
	predicate       // in predicate registers
)

// A words maps the registers of a function to words, and records for each word of which other word
// it is a copy.
type words struct {
	f      *ir.Func
	number map[*ir.Reg]int
	first  []word // first word of each register; the others follow it
	width  []int32
	writes []int32     // number of instructions that write each register
	reads  []int32     // number of reads of each register
	summed []int32     // number of reads of each register in 64-bit additions
	by     []*ir.Instr // one of the instructions that write each register
	target int
	// for an upper half, the lower half when it belongs to another register
	low     map[word]word
	alias   []word  // the word that each word is a copy of; itself for most
	owner   []int32 // the register of each word
	class   []class
	from    []int32 // for registers computed as base plus constant: the base and the constant
	plus    []int64
	made    []bool // words with one definition that were added by unrolling
	loaded  []load // where each register's constant is loaded, if it must be in a register
	literal []bool // registers whose value ptxas knows, except the stack pointer
}

// widthOf returns the number of words of a register.
func widthOf(r *ir.Reg) int32 {
	return int32(max(1, (r.Type.Bits()+31)/32) * max(1, int(r.Vec)))
}

func newWords(f *ir.Func, target int) *words {
	w := &words{f: f, number: make(map[*ir.Reg]int, len(f.Regs)), first: make([]word, len(f.Regs)),
		width: make([]int32, len(f.Regs)), writes: make([]int32, len(f.Regs))}
	w.reads, w.summed, w.by = make([]int32, len(f.Regs)), make([]int32, len(f.Regs)),
		make([]*ir.Instr, len(f.Regs))
	w.target, w.low = target, make(map[word]word)
	n := word(0)
	for i, r := range f.Regs {
		w.number[r] = i
		w.first[i], w.width[i] = n, widthOf(r)
		n += word(w.width[i])
	}
	w.alias = make([]word, n)
	w.owner = make([]int32, n)
	w.class = make([]class, n)
	w.made = make([]bool, n)
	w.loaded = make([]load, len(f.Regs))
	w.literal = make([]bool, len(f.Regs))
	w.from, w.plus = make([]int32, len(f.Regs)), make([]int64, len(f.Regs))
	for i := range w.from {
		w.from[i] = -1
	}
	for i, r := range f.Regs {
		for j := range word(w.width[i]) {
			at := w.first[i] + j
			w.alias[at], w.owner[at] = at, int32(i)
			if r.Type == isa.Predicate {
				w.class[at] = predicate
			}
		}
	}
	for _, list := range [][]*ir.Var{f.Params, f.Results} {
		for _, v := range list {
			if i, ok := w.number[v.Reg]; ok && v.Reg != nil {
				w.writes[i]++
			}
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				i, ok := w.number[r]
				if ok && a != isa.Write {
					w.reads[i]++
					if sum64s(in) {
						w.summed[i]++
					}
				}
				if ok && a != isa.Read {
					w.by[i] = in
				}
				if ok && a != isa.Read {
					w.writes[i]++
					if a == isa.ReadWrite {
						w.writes[i]++
					}
				}
			})
		}
	}
	return w
}

// find returns the original word that w is a copy of, through all copies.
func (s *words) find(w word) word {
	for w != noWord && s.alias[w] != w {
		next := s.alias[w]
		if next != noWord {
			s.alias[w] = s.alias[next]
		}
		w = next
	}
	return w
}

// of returns the index of a register in the function. ok is false if the register belongs to
// another function.
func (s *words) of(r *ir.Reg) (int, bool) {
	i, ok := s.number[r]
	return i, ok
}

// once returns the register of an operand, if the operand is a whole register that exactly one
// instruction writes.
func (s *words) once(o *ir.Operand) (int, bool) {
	if o.Kind != ir.Register || o.Text() != "" || o.Not || o.Minus || o.Offset() {
		return 0, false
	}
	i, ok := s.of(o.Reg)
	return i, ok && s.writes[i] == 1
}

// copyWord makes word to a copy of from, unless that would create a cycle.
func (s *words) copyWord(to, from word) bool {
	if from != noWord {
		if from = s.find(from); from == to {
			return false
		}
	}
	s.alias[to] = from
	return true
}

// sum64s reports whether an instruction adds 64-bit values.
func sum64s(in *ir.Instr) bool {
	return in.Is(isa.KindAdd, isa.ModS64) || in.Is(isa.KindAdd, isa.ModU64)
}

// lower returns the lower half of a 64-bit value whose upper half is w, if the two halves belong to
// different registers, or noWord.
func (s *words) lower(w word) word {
	if l, ok := s.low[w]; ok {
		return s.find(l)
	}
	return noWord
}
