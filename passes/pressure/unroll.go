// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// How the assembler unrolls: loops of one block that count, if they are short and no pragma forbids it.
const (
	unrollTimes = 4
	unrollOps   = 60
)

// unroll does to loops of one block what the assembler does: it repeats short bodies.
func (g *graph) unroll() int {
	n := 0
	for b := range g.ops {
		if g.counted(b) {
			g.repeat(b)
			n++
		}
	}
	return n
}

// counted reports whether block b is a loop that the assembler unrolls: short, and left when something
// that grows by the same amount each time reaches what does not change.
func (g *graph) counted(b int) bool {
	ops := g.ops[b]
	if len(ops) < 2 || len(ops) > unrollOps {
		return false
	}
	last := &ops[len(ops)-1]
	if last.in.Head() != "bra" || last.in.Guard.Reg == nil {
		return false
	}
	self := false
	for _, s := range g.flow.Succs[b] {
		self = self || s == b
	}
	if !self {
		return false
	}
	for _, in := range g.words.f.Blocks[b].Instrs {
		if in.Op == ".pragma" && len(in.Args) > 0 && strings.Contains(in.Args[0].Text, "nounroll") {
			return false
		}
	}
	for i := range ops[:len(ops)-1] {
		o := &ops[i]
		if o.memory == ordered {
			return false
		}
	}
	// The guard is a comparison with something that the loop does not write.
	guard, ok := g.words.of(last.in.Guard.Reg)
	if !ok {
		return false
	}
	for i := range ops {
		in := ops[i].in
		if in.Head() != "setp" || len(in.Args) < 3 || in.Args[0].Kind != ir.Register {
			continue
		}
		if n, ok := g.words.of(in.Args[0].Reg()); !ok || n != guard {
			continue
		}
		if in.Mod("f32") || in.Mod("f64") {
			return false
		}
		fixed := 0
		for _, a := range in.Args[1:3] {
			switch {
			case a.Kind == ir.Int:
				fixed++
			case a.Kind == ir.Register && !g.writes(b, a.Reg()):
				fixed++
			case a.Kind == ir.Register && !g.steps(b, a.Reg()):
				return false
			}
		}
		return fixed == 1
	}
	return false
}

// writes reports whether an op of block b writes a register.
func (g *graph) writes(b int, r *ir.Reg) bool {
	i, ok := g.words.of(r)
	if !ok {
		return true
	}
	w := g.words.find(g.words.first[i])
	if w == nothing {
		return false
	}
	for i := range g.ops[b] {
		if has(g.ops[b][i].defs, w) {
			return true
		}
	}
	return false
}

// steps reports whether a register of block b is made by adding.
func (g *graph) steps(b int, r *ir.Reg) bool {
	i, ok := g.words.of(r)
	if !ok {
		return false
	}
	w := g.words.find(g.words.first[i])
	for i := range g.ops[b] {
		o := &g.ops[b][i]
		if w == nothing || !has(o.defs, w) {
			continue
		}
		switch o.in.Head() {
		case "add", "sub", "mov", "mad":
			return true
		}
		return false
	}
	return false
}

// fresh is a new word like w.
func (s *words) fresh(w word) word {
	n := word(len(s.alias))
	s.alias = append(s.alias, n)
	s.owner = append(s.owner, s.owner[w])
	s.nature = append(s.nature, s.nature[w])
	s.made = append(s.made, true)
	return n
}

// repeat puts the body of a loop several times in a row, each with words of its own.
func (g *graph) repeat(b int) {
	s := g.words
	body := g.ops[b]
	count := len(body)
	test := &body[count-1]
	now := make(map[word]word)
	ahead := make(map[word]int64) // what has been added to a word that stands for its later self
	at := func(w word) word {
		if n, ok := now[w]; ok {
			return n
		}
		return w
	}
	// What is used otherwise than to be added to, or as an address?
	other := make(map[word]bool)
	for i := range body {
		o := &body[i]
		step := o.in.Head() == "add" && len(o.in.Args) == 3 && o.in.Args[2].Kind == ir.Int
		if step || o == test {
			continue
		}
		addresses := make(map[word]bool)
		if plain(o.in) {
			for j := range o.in.Args {
				if a := &o.in.Args[j]; a.Kind == ir.Address && len(a.Args) == 1 {
					if r, ok := s.of(a.Args[0].Reg()); ok {
						for n := range word(s.width[r]) {
							addresses[s.find(s.first[r]+n)] = true
						}
					}
				}
			}
		}
		for _, u := range o.uses {
			if !addresses[u] && !(o.in.Head() == "setp" && len(o.defs) == 1 && has(test.uses, o.defs[0])) {
				other[u] = true
			}
		}
	}
	var all []op
	for k := range unrollTimes {
		final := k == unrollTimes-1
		for i := range body {
			o := body[i]
			if !final {
				if i == count-1 || o.in.Head() == "setp" && len(o.defs) == 1 && has(test.uses, o.defs[0]) && !other[o.defs[0]] {
					continue
				}
				if len(o.uses) == len(o.defs) && o.in.Guard.Reg == nil {
					step := o.in.Head() == "add" && len(o.in.Args) == 3 && o.in.Args[2].Kind == ir.Int && !other[o.defs[0]]
					if step || o.in.Head() == "mov" {
						if step && len(o.defs) > 0 {
							ahead[at(o.uses[0])] += o.in.Args[2].Value
						}
						list := make([]word, len(o.uses))
						for j := range o.uses {
							list[j] = at(o.uses[j])
						}
						for j := range o.defs {
							now[o.defs[j]] = list[j]
						}
						continue
					}
				}
			}
			c := o
			if o.base != nothing {
				c.base = at(o.base)
				c.offset += ahead[c.base]
			}
			c.uses = make([]word, len(o.uses))
			for j, u := range o.uses {
				c.uses[j] = at(u)
			}
			c.defs = make([]word, len(o.defs))
			for j, d := range o.defs {
				if final {
					c.defs[j] = d
				} else {
					c.defs[j] = s.fresh(d)
				}
			}
			for j, d := range o.defs {
				now[d] = c.defs[j]
			}
			all = append(all, c)
		}
	}
	g.ops[b] = all
}
