// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// fusedSources is the maximum number of source registers of a machine instruction.
const fusedSources = 3

// fuse combines two ops for which the hardware has one instruction: three-input additions, a shift
// or product with an addition (IMAD, LEA), or any three-input logical function (LOP3). The
// intermediate value then needs no register, and dependence chains become shorter.
func (g *graph) fuse() {
	count := make([]int32, len(g.words.alias)) // number of uses of each word
	for b := range g.ops {
		for i := range g.ops[b] {
			for _, u := range g.ops[b][i].uses {
				count[u]++
			}
		}
	}
	maker := make(map[word]int)
	for b := range g.ops {
		ops := g.ops[b]
		clear(maker)
		gone := false
		for i := range ops {
			o := &ops[i]
			if fusion(o.in) != alone {
				for _, u := range o.uses {
					m, ok := maker[u]
					if !ok || !g.fusible(&ops[m], o, maker, m, count) {
						continue
					}
					o.uses = joined(o.uses, &ops[m])
					o.fused = true
					ops[m].in = nil
					gone = true
					break
				}
			}
			for _, d := range o.defs {
				maker[d] = i
			}
		}
		if gone {
			g.ops[b] = present(ops)
		}
	}
}

// A part is the role that an instruction can play in a fused instruction.
type part uint8

const (
	alone part = iota
	sum        // 32-bit addition
	sum64
	logical
	scaled   // shift by a constant, or product
	scaled64 // the same in 64 bits
)

// logicals holds the kinds of operations that lop3 can combine.
var logicals = map[isa.Kind]bool{isa.KindAnd: true, isa.KindOr: true, isa.KindXor: true,
	isa.KindNot: true, isa.KindLop3: true}

// onlyType returns the type of an instruction that has no other modifier, or NoMod.
func onlyType(in *ir.Instr) isa.Mod {
	only := isa.NoMod
	for _, m := range in.Mods() {
		if m == isa.NoMod {
			continue
		}
		if only != isa.NoMod {
			return isa.NoMod
		}
		only = m
	}
	return only
}

func fusion(in *ir.Instr) part {
	if in == nil || in.Guard.Reg != nil || len(in.Args) < 2 || in.Args[0].Kind != ir.Register {
		return alone
	}
	switch single := onlyType(in); {
	case (in.Kind() == isa.KindAdd || in.Kind() == isa.KindSub) &&
		(single == isa.ModS32 || single == isa.ModU32):
		return sum
	case sum64s(in):
		return sum64
	case single == isa.ModB32 && logicals[in.Kind()]:
		return logical
	case in.Kind() == isa.KindMulLo && (single == isa.ModS32 || single == isa.ModU32):
		return scaled
	case in.Kind() == isa.KindShl && len(in.Args) == 3 && in.Args[2].Kind == ir.Int:
		switch single {
		case isa.ModB32:
			return scaled
		case isa.ModB64:
			return scaled64
		}
	}
	return alone
}

// fusible reports whether op m of a block, whose only user is op o, can be computed as part of o.
func (g *graph) fusible(made, o *op, maker map[word]int, m int, count []int32) bool {
	if made.in == nil || made.fused || o.fused {
		return false
	}
	for _, d := range made.defs {
		if count[d] != 1 || !g.words.single(d) {
			return false
		}
	}
	for _, u := range made.uses {
		if at, ok := maker[u]; ok && at > m {
			return false // an operand of made is overwritten before its use
		}
	}
	switch a, b := fusion(made.in), fusion(o.in); {
	case a == sum && b == sum, a == logical && b == logical:
		return len(joined(o.uses, made)) <= fusedSources
	case a == scaled && b == sum:
		return len(o.uses) <= 2
	case a == scaled64 && b == sum64:
		return true
	}
	return false
}

// joined returns the operands in uses, but with the operands of made in place of its result.
func joined(uses []word, made *op) []word {
	var list []word
	for _, u := range uses {
		if !has(made.defs, u) && !has(list, u) {
			list = append(list, u)
		}
	}
	for _, u := range made.uses {
		if !has(list, u) {
			list = append(list, u)
		}
	}
	return list
}

// present returns the ops that have not been fused into other ops.
func present(ops []op) []op {
	kept := ops[:0]
	for _, o := range ops {
		if o.in != nil {
			kept = append(kept, o)
		}
	}
	return kept
}
