// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Limits of unrolling in ptxas: it unrolls short single-block loops with a constant step, unless a
// pragma forbids it. ptxas unrolls loops with a known trip count completely; the simulation unrolls
// some iterations only, because the register count no longer grows.
const (
	unrollTimes = 4
	unrollMost  = 12
	unrollOps   = 48 // for a body that waits for memory
	unrollShort = 21 // for other bodies
)

// unroll repeats the bodies of short single-block loops as ptxas does.
func (g *graph) unroll() int {
	g.findStarted()
	n := 0
	for b := range g.ops {
		if times := g.counted(b); times > 1 {
			g.repeat(b, times)
			n++
		}
	}
	return n
}

// counted returns how many times ptxas repeats block b; 0 if it does not unroll it. The loop must
// be short, and end when a value with a constant step reaches a loop-invariant value.
func (g *graph) counted(b int) int {
	ops := g.ops[b]
	if len(ops) < 2 || len(ops) > unrollOps {
		return 0
	}
	last := &ops[len(ops)-1]
	if last.in.Kind() != isa.KindBra || last.in.Guard.Reg == nil {
		return 0
	}
	self := false
	for _, s := range g.flow.Succs[b] {
		self = self || s == b
	}
	if !self {
		return 0
	}
	for _, in := range g.words.f.Blocks[b].Instrs {
		if in.Op == ".pragma" && len(in.Args) > 0 && strings.Contains(in.Args[0].Text(), "nounroll") {
			return 0
		}
	}
	waits := false
	for i := range ops[:len(ops)-1] {
		o := &ops[i]
		waits = waits || o.memory != untouched
		if o.memory == ordered || o.slow {
			return 0
		}
	}
	if !waits && len(ops) > unrollShort {
		return 0
	}
	// The guard compares with a loop-invariant value.
	guard, ok := g.words.of(last.in.Guard.Reg)
	if !ok {
		return 0
	}
	for i := range ops {
		in := ops[i].in
		if in.Kind() != isa.KindSetp || len(in.Args) < 3 || in.Args[0].Kind != ir.Register {
			continue
		}
		if n, ok := g.words.of(in.Args[0].Reg); !ok || n != guard {
			continue
		}
		if in.HasMod(isa.ModF32, isa.ModF64) {
			return 0
		}
		fixed, times := 0, unrollTimes
		for i, a := range in.Args[1:3] {
			switch {
			case a.Kind == ir.Int:
				fixed++
				if g.starts(in.Args[2-i].Reg) {
					times = unrollMost
				}
			case a.Kind == ir.Register && !g.writes(b, a.Reg):
				fixed++
			case a.Kind == ir.Register && !g.steps(b, a.Reg):
				return 0
			}
		}
		if fixed == 1 {
			return times
		}
		return 0
	}
	return 0
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

// steps reports whether block b computes a register by adding a constant to it.
func (g *graph) steps(b int, r *ir.Reg) bool {
	for range len(g.ops[b]) {
		o := g.maker(b, r)
		if o == nil || len(o.in.Args) < 2 {
			return false
		}
		switch o.in.Kind() {
		case isa.KindMov:
			r = o.in.Args[1].Reg
		case isa.KindAdd, isa.KindSub:
			return len(o.in.Args) == 3 && o.in.Args[2].Kind == ir.Int
		default:
			return false
		}
	}
	return false
}

// maker returns the last op of block b that writes a register.
func (g *graph) maker(b int, r *ir.Reg) *op {
	i, ok := g.words.of(r)
	if !ok {
		return nil
	}
	w := g.words.find(g.words.first[i])
	for i := len(g.ops[b]) - 1; i >= 0 && w != nothing; i-- {
		if has(g.ops[b][i].defs, w) {
			return &g.ops[b][i]
		}
	}
	return nil
}

// starts reports whether some op sets a register to a constant.
func (g *graph) starts(r *ir.Reg) bool {
	i, ok := g.words.of(r)
	if !ok {
		return false
	}
	return g.started[g.words.find(g.words.first[i])]
}

// findStarted marks the words that are set to a constant. Unrolling does not add such words.
func (g *graph) findStarted() {
	g.started = make(map[word]bool)
	for b := range g.ops {
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			if o.in.Kind() == isa.KindMov && len(o.in.Args) == 2 && o.in.Args[1].Kind == ir.Int {
				for _, d := range o.defs {
					g.started[d] = true
				}
			}
		}
	}
}

// fresh returns a new word like w.
func (s *words) fresh(w word) word {
	n := word(len(s.alias))
	s.alias = append(s.alias, n)
	s.owner = append(s.owner, s.owner[w])
	s.class = append(s.class, s.class[w])
	s.made = append(s.made, true)
	return n
}

// repeat repeats the body of a loop the given number of times, each time with new words.
func (g *graph) repeat(b, times int) {
	s := g.words
	body := g.ops[b]
	count := len(body)
	test := &body[count-1]
	now := make(map[word]word)
	// the constant that has been added to a word since the first iteration
	ahead := make(map[word]int64)
	at := func(w word) word {
		if n, ok := now[w]; ok {
			return n
		}
		return w
	}
	// Words that are used other than in additions or as an address.
	other := make(map[word]bool)
	for i := range body {
		o := &body[i]
		step := o.in.Kind() == isa.KindAdd && len(o.in.Args) == 3 && o.in.Args[2].Kind == ir.Int
		if step || o == test {
			continue
		}
		addresses := make(map[word]bool)
		if plain(o.in) {
			for j := range o.in.Args {
				if a := &o.in.Args[j]; a.Kind == ir.Address && len(a.Args()) == 1 {
					if r, ok := s.of(a.Args()[0].Reg); ok {
						for n := range word(s.width[r]) {
							addresses[s.find(s.first[r]+n)] = true
						}
					}
				}
			}
		}
		for _, u := range o.uses {
			if !addresses[u] && !(o.in.Kind() == isa.KindSetp && len(o.defs) == 1 && has(test.uses, o.defs[0])) {
				other[u] = true
			}
		}
	}
	var all []op
	for k := range times {
		final := k == times-1
		for i := range body {
			o := body[i]
			if !final {
				if i == count-1 || o.in.Kind() == isa.KindSetp && len(o.defs) == 1 && has(test.uses, o.defs[0]) && !other[o.defs[0]] {
					continue
				}
				if len(o.uses) == len(o.defs) && o.in.Guard.Reg == nil {
					step := o.in.Kind() == isa.KindAdd && len(o.in.Args) == 3 && o.in.Args[2].Kind == ir.Int && !other[o.defs[0]]
					if step || o.in.Kind() == isa.KindMov {
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
