// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "github.com/ptxdsl/ptxdsl/ir"

// fusedSources is how many registers an instruction of the machine reads at most.
const fusedSources = 3

// fuse makes one op of two that the machine has one instruction for: sums of three, a shift or a product in a sum, any
// logical function of three. What is in between needs no register then, and fewer ops wait for one another.
func (g *graph) fuse() {
	count := make([]int32, len(g.words.alias)) // uses of each word
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

// A part is what an instruction can be of a larger one.
type part uint8

const (
	alone part = iota
	sum        // of 32 bits
	sum64
	logical
	scaled   // a shift by a constant, or a product
	scaled64 // of 64 bits
)

func fusion(in *ir.Instr) part {
	if in == nil || in.Guard.Reg != nil || len(in.Args) < 2 || in.Args[0].Kind != ir.Register {
		return alone
	}
	switch in.Op {
	case "add.s32", "add.u32", "sub.s32", "sub.u32":
		return sum
	case "add.s64", "add.u64":
		return sum64
	case "and.b32", "or.b32", "xor.b32", "not.b32", "lop3.b32":
		return logical
	case "mul.lo.s32", "mul.lo.u32":
		return scaled
	case "shl.b32", "shl.b64":
		if len(in.Args) == 3 && in.Args[2].Kind == ir.Int {
			if in.Op == "shl.b64" {
				return scaled64
			}
			return scaled
		}
	}
	return alone
}

// fusible reports whether what op m of a block makes need not be made before op o, the only one that uses it.
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
			return false // what it is made of has changed
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

// joined returns uses with what an op reads in the place of what it makes.
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

// present returns the ops that are left.
func present(ops []op) []op {
	kept := ops[:0]
	for _, o := range ops {
		if o.in != nil {
			kept = append(kept, o)
		}
	}
	return kept
}
