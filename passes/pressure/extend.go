// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// pairSums reports whether instructions of a target add 64-bit register pairs at once.
func pairSums(number int) bool { return number >= 120 || number >= 107 && number < 110 }

// extends returns the upper half of a 64-bit register that receives a load of at most 32 bits, if a
// separate instruction must compute it; otherwise it returns nothing.
func (s *words) extends(in *ir.Instr) word {
	if in.Kind() != isa.KindLd || len(in.Args) < 2 || in.HasMod(isa.ModParam, isa.ModConst) {
		return noWord
	}
	r, ok := s.once(&in.Args[0])
	if !ok || s.width[r] != 2 {
		return noWord
	}
	if in.HasMod(isa.ModU8, isa.ModS8, isa.ModB8, isa.ModU16, isa.ModS16, isa.ModB16, isa.ModU32,
		isa.ModS32, isa.ModB32) {
		return s.first[r] + 1
	}
	return noWord
}

// extend appends the op that computes the upper half of a loaded value, if the load at the end of
// list needs one.
func (s *words) extend(list []op, a *arena) []op {
	o := &list[len(list)-1]
	high := s.extends(o.in)
	if high == noWord || len(o.defs) != 2 {
		return list
	}
	o.defs = o.defs[:1]
	upper := op{in: &ir.Instr{Op: "mov.b32", Pos: o.in.Pos}, upper: true,
		defs: a.keep([]word{high}), latency: 5, stall: 1}
	if o.in.HasMod(isa.ModS32, isa.ModS16, isa.ModS8) {
		upper.uses = a.keep(o.defs) // sign extension; otherwise zero extension
	}
	return append(list, upper)
}

// factors loads the factors of products in additions with constants into registers, once in each
// block.
func (g *graph) factors() {
	s := g.words
	for b := range g.ops {
		now := make(map[int64]word)
		var list []op
		for i := range g.ops[b] {
			o := g.ops[b][i]
			if o.scale != nil {
				value := o.scale.Args[2].Value
				w, ok := now[value]
				if !ok {
					d, _ := s.of(o.scale.Args[0].Reg)
					s.loaded[d] = extraRegisters
					w = s.newWordLike(s.first[d])
					now[value] = w
					if list == nil {
						list = append(make([]op, 0, len(g.ops[b])+4), g.ops[b][:i]...)
					}
					list = append(list, op{in: o.scale, defs: []word{w}, latency: 5, stall: 1})
				}
				o.uses = append(o.uses[:len(o.uses):len(o.uses)], w)
			}
			if list != nil {
				list = append(list, o)
			} else {
				g.ops[b][i] = o
			}
		}
		if list != nil {
			g.ops[b] = list
		}
	}
}
