// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A load specifies where ptxas loads a constant into a register.
type load uint8

const (
	unloaded       load = iota
	reloaded            // loaded again in each block that needs it
	extraRegisters      // once
)

// mustHoldConstant reports whether a register, or a register of a vector, must hold its constant.
func (s *words) mustHoldConstant(d *ir.Operand) bool {
	found := false
	d.Walk(func(o *ir.Operand) {
		if r, ok := s.of(o.Reg); ok && s.loaded[r] != unloaded {
			found = true
		}
	})
	return found
}

// bases finds registers whose constants must be loaded into per-thread registers: addresses of
// memory accesses, and, on targets whose instructions cannot read the constant bank, constants that
// are added to per-thread values.
func (s *words) bases(number int) {
	from := make([]int32, len(s.f.Regs)) // the register that each register is a copy of
	for i := range from {
		from[i] = int32(i)
	}
	for _, b := range s.f.Blocks {
		for _, in := range b.Instrs {
			if h := in.Kind().Head(); (h == isa.HeadMov || h == isa.HeadCvta) && len(in.Args) == 2 {
				d, ok := s.once(&in.Args[0])
				r, also := s.once(&in.Args[1])
				if ok && also && s.width[r] == 2 {
					from[d] = int32(r)
				}
			}
		}
	}
	need := func(o *ir.Operand, l load) {
		r, ok := s.of(o.Reg)
		if !ok || s.width[r] != 2 {
			return
		}
		for n := 0; from[r] != int32(r); n++ {
			if n > len(from) {
				return // the two are copies of each other
			}
			r = int(from[r])
		}
		if s.writes[r] == 1 {
			s.loaded[r] = max(s.loaded[r], l)
		}
	}
	for _, b := range s.f.Blocks {
		for _, in := range b.Instrs {
			if number >= constantFree && sum64s(in) && len(in.Args) == 3 &&
				in.Args[2].Kind == ir.Register &&
				(pairSums(number) || !s.extended(&in.Args[1]) && !s.extended(&in.Args[2])) {
				need(&in.Args[1], reloaded)
				need(&in.Args[2], reloaded)
			}
			if !takesOffset(in) || in.HasMod(isa.ModParam, isa.ModConst) {
				continue
			}
			for i := range in.Args {
				if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) == 1 &&
					number >= threadAddresses {
					need(&o.Args()[0], extraRegisters)
				}
			}
		}
	}
}

// constantFree is the number of the first target whose multiplications and additions cannot read
// the constant bank: sm_90.
const constantFree = 90

// reload loads the constants of additions again in each block, as ptxas does: it prefers a second
// load to a longer live range.
func (g *graph) reload() {
	s := g.words
	makers := make(map[word]*op) // that define the first word of each
	for b := range g.ops {
		for i := range g.ops[b] {
			if o := &g.ops[b][i]; len(o.defs) > 0 && s.loaded[s.owner[o.defs[0]]] == reloaded &&
				s.writes[s.owner[o.defs[0]]] == 1 {
				c := *o
				for _, d := range o.defs {
					makers[d] = &c
				}
			}
		}
	}
	if len(makers) == 0 {
		return
	}
	type copied struct {
		word word
		at   int
	}
	now := make(map[word]copied)
	loops := g.loops()
	for b := range g.ops {
		if loops[b] {
			continue // constants of a loop are loaded before it
		}
		clear(now)
		var list []op
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			for j, u := range o.uses {
				m := makers[u]
				if m == nil {
					continue
				}
				if n, ok := now[u]; !ok || i-n.at > reloadWindow {
					c := *m
					c.defs = make([]word, len(m.defs))
					for n, d := range m.defs {
						c.defs[n] = s.newWordLike(d)
						now[d] = copied{c.defs[n], i}
					}
					if list == nil {
						list = append(make([]op, 0, len(g.ops[b])+8), g.ops[b][:i]...)
					}
					list = append(list, c)
				}
				o.uses[j] = now[u].word
			}
			if list != nil {
				list = append(list, *o)
			}
		}
		if list != nil {
			g.ops[b] = list
		}
	}
}

// reloadWindow is the number of ops for which a loaded constant stays in its register.
const reloadWindow = 24

// loops marks the blocks inside loops, that is, between the target and the source of a backward
// branch.
func (g *graph) loops() []bool {
	list := make([]bool, len(g.ops))
	reach := -1 // the last block with a backward branch to this block or an earlier one
	last := make([]int, len(g.ops))
	for b := range last {
		last[b] = -1
	}
	for b := range g.ops {
		for _, s := range g.flow.Succs[b] {
			if s <= b {
				last[s] = max(last[s], b)
			}
		}
	}
	for b := range list {
		reach = max(reach, last[b])
		list[b] = b <= reach
	}
	return list
}

// extended reports whether an operand is a register that holds a sign-extended 32-bit value.
func (s *words) extended(o *ir.Operand) bool {
	r, ok := s.of(o.Reg)
	return ok && s.by[r] != nil && signExtends(s.by[r])
}
