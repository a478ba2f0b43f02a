// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An op is an instruction that remains after copies are removed, with the words it reads and
// writes, each listed once.
type op struct {
	in   *ir.Instr
	uses []word
	defs []word
	// registers that the instruction needs for its own computation, because it is expanded into
	// many machine instructions, as a division is
	temps   int
	latency int // approximate cycles until its result can be used
	stall   int // cycles that the scheduler waits for its result
	memory  access
	slowly  bool // its operands and results stay occupied some time after it is issued
	// computes the upper half of the value that the op before it loads; not in the text
	upper  bool
	fused  bool  // two instructions of the text combined into one
	slow   bool  // calls a subroutine for rare operands: nothing is reordered across it
	base   word  // base word of the address of a load or store, or nothing for other instructions
	offset int64 // offset added to that base word
	// the product in an addition with a constant; its factor must be in a register
	scale *ir.Instr
	size  int64 // bytes
}

// A graph holds the ops of a function by block, without ops whose results are never used.
type graph struct {
	words    *words
	flow     *ir.Flow
	ops      [][]op
	room     [][]op        // free space before the ops of each block while blocks are merged
	point    Point         // the peak of live words in text order
	behind   [][]word      // words live at the end of each block before blocks are merged
	started  map[word]bool // words that are set to a constant by some op
	unrolled int           // number of unrolled loops
	slow     int           // ops that call a subroutine for rare operands
}

func newGraph(f *ir.Func, number int) *graph {
	s := newWords(f, number)
	skip := make(map[*ir.Instr]bool)
	s.bases(number)
	s.copies(skip)
	wide := s.addresses(skip)
	g := s.graph(number, skip, wide)
	g.reload()
	g.factors()
	g.sweep()
	for b := range g.ops {
		for i := range g.ops[b] {
			if g.ops[b][i].slow {
				g.slow++
			}
		}
	}
	g.behind = g.live()
	g.classify(number, false)
	p := g.inOrder(g.behind)
	g.point = g.pointAt(g.behind, p)
	g.rename()
	g.fuse()
	g.unrolled = g.unroll()
	g.merge()
	return g
}

// graph builds ops from the instructions that are not skipped.
func (s *words) graph(number int, skip map[*ir.Instr]bool, wide map[int]*ir.Instr) *graph {
	g := &graph{words: s, flow: ir.FlowOf(s.f), ops: make([][]op, len(s.f.Blocks))}
	arena := &arena{}
	for i, b := range s.f.Blocks {
		list := make([]op, 0, len(b.Instrs))
		for _, in := range b.Instrs {
			if in.Directive() || skip[in] {
				continue
			}
			list = s.extend(append(list, s.op(in, number, wide, arena)), arena)
		}
		g.ops[i] = list
	}
	return g
}

// arena hands out slices of words without one allocation for each.
type arena struct{ room []word }

func (a *arena) keep(list []word) []word {
	if len(a.room) < len(list) {
		a.room = make([]word, max(4096, len(list)))
	}
	kept := a.room[:len(list):len(list)]
	a.room = a.room[len(list):]
	copy(kept, list)
	return kept
}

// op returns the op of an instruction.
func (s *words) op(in *ir.Instr, number int, wide map[int]*ir.Instr, a *arena) op {
	var uses, defs [64]word
	u, d := uses[:0], defs[:0]
	product, constant := false, false
	var factor *ir.Instr
	in.Registers(func(r *ir.Reg, access isa.Access) {
		i, ok := s.of(r)
		if !ok {
			return
		}
		if access != isa.Write {
			constant = constant || s.find(s.first[i]) == noWord
			if from := wide[i]; from != nil && in.Kind() == isa.KindAdd {
				// The product is part of the addition, whose op reads the operands of the product.
				product = true
				if from.Args[2].Kind == ir.Int {
					factor = from
				}
				from.Registers(func(r *ir.Reg, access isa.Access) {
					if j, ok := s.of(r); ok && access == isa.Read {
						u = s.add(u, j)
					}
				})
			} else {
				u = s.add(u, i)
			}
		}
		if access != isa.Read {
			d = s.written(d, i)
		}
	})
	o := op{in: in, uses: a.keep(u), defs: a.keep(d)}
	o.temps, o.latency = cost(in)
	o.stall = stall(in)
	o.temps += s.extraRegisters(in)
	o.slow = isExpanded(in)
	if in.HasMod(isa.ModCAS) && len(o.defs) > 0 {
		// atom.cas needs its operands in adjacent registers next to its result: a copy
		o.temps += len(o.defs)
	}
	if number < constantFree && product && constant {
		o.scale = factor // an instruction has at most one constant operand
	}
	o.memory = memory(in)
	o.slowly = isDelayed(in, number)
	if in.Kind().Head() == isa.HeadCvt && o.slowly {
		o.latency = sharedLatency
	}
	s.locate(&o)
	return o
}

// sharedLatency is the approximate latency, in cycles, of a unit that warps share.
const sharedLatency = 20

// written appends the words of a register to list, except words that are copies of other words.
func (s *words) written(list []word, reg int) []word {
	for j := range word(s.width[reg]) {
		if w := s.first[reg] + j; s.find(w) == w && !has(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// add appends the words of a register to list, without duplicates.
func (s *words) add(list []word, reg int) []word {
next:
	for j := range word(s.width[reg]) {
		w := s.find(s.first[reg] + j)
		if w == noWord {
			continue
		}
		if len(list) < 64 {
			for _, other := range list {
				if other == w {
					continue next
				}
			}
		}
		list = append(list, w)
	}
	return list
}

// rename gives each definition of a word in a block a word of its own, except the last, which
// removes false dependences.
func (g *graph) rename() {
	s := g.words
	count := make([]int32, len(s.alias))
	now := make(map[word]word)
	for b := range g.ops {
		for i := range g.ops[b] {
			for _, d := range g.ops[b][i].defs {
				count[d]++
			}
		}
		clear(now)
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			for j, u := range o.uses {
				if n, ok := now[u]; ok {
					o.uses[j] = n
				}
			}
			if n, ok := now[o.base]; ok {
				o.base = n
			}
			for j, d := range o.defs {
				if int(d) >= len(count) {
					continue
				}
				if count[d]--; count[d] > 0 {
					n := s.newWordLike(d)
					o.defs[j] = n
					now[d] = n
				} else {
					delete(now, d)
				}
			}
		}
	}
}

// sweep removes ops whose results are never read.
func (g *graph) sweep() {
	count := make([]int32, len(g.words.alias))
	type place struct{ block, at int32 }
	makers := make(map[word][]place)
	free := func(o *op) bool {
		switch o.in.Kind().Head() {
		case isa.HeadLd:
			return !o.in.HasMod(isa.ModVolatile)
		case isa.HeadMma, isa.HeadLdmatrix, isa.HeadWmma:
			return true // although all threads of a warp execute it
		}
		return o.in.Has(isa.EffectPure) && !o.in.Has(isa.EffectConvergent)
	}
	for b := range g.ops {
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			for _, u := range o.uses {
				if !has(o.defs, u) {
					count[u]++
				}
			}
		}
	}
	var dead []place
	check := func(p place) {
		o := &g.ops[p.block][p.at]
		if o.in == nil || !free(o) || len(o.defs) == 0 {
			return
		}
		for _, d := range o.defs {
			if count[d] > 0 {
				return
			}
		}
		dead = append(dead, p)
	}
	for b := range g.ops {
		for i := range g.ops[b] {
			for _, d := range g.ops[b][i].defs {
				makers[d] = append(makers[d], place{int32(b), int32(i)})
			}
			check(place{int32(b), int32(i)})
		}
	}
	for len(dead) > 0 {
		p := dead[len(dead)-1]
		dead = dead[:len(dead)-1]
		o := &g.ops[p.block][p.at]
		if o.in == nil {
			continue
		}
		for _, u := range o.uses {
			if has(o.defs, u) {
				continue
			}
			if count[u]--; count[u] == 0 {
				for _, m := range makers[u] {
					check(m)
				}
			}
		}
		o.in = nil
	}
	for b := range g.ops {
		g.ops[b] = present(g.ops[b])
		for i := range g.ops[b] {
			g.ops[b][i].forget(count)
		}
	}
}

// forget removes operands of an op that are read only to keep the old value of the result where the
// guard is false, if the result is never read afterwards.
func (o *op) forget(count []int32) {
	kept := o.uses[:0]
	for _, u := range o.uses {
		if count[u] > 0 || !has(o.defs, u) {
			kept = append(kept, u)
		}
	}
	o.uses = kept
}

func has(list []word, w word) bool {
	for _, x := range list {
		if x == w {
			return true
		}
	}
	return false
}
