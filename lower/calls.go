// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A sequence is the instructions of a block that pass values to a call and take its results. Its .param variables are declared around
// it, in a scope: so the assembler knows how long it needs room for them, and so it reads.
type sequence struct {
	first, last int // instructions of the block
	vars        []*ir.Var
}

// sequences finds, for each block, the call sequences of f in the order of its instructions. The variables in them are in own.
func sequences(f *ir.Func) (list map[*ir.Block][]sequence, own map[*ir.Var]bool) {
	type use struct {
		block       *ir.Block
		first, last int
		spread      bool // over several blocks
	}
	uses := make(map[*ir.Var]*use)
	for _, v := range f.Vars {
		if v.Space == isa.Param {
			uses[v] = &use{}
		}
	}
	if len(uses) == 0 {
		return nil, nil
	}
	for _, b := range f.Blocks {
		for i, in := range b.Instrs {
			for j := range in.Args {
				in.Args[j].Walk(func(o *ir.Operand) {
					u := uses[o.Var()]
					switch {
					case o.Var() == nil || u == nil:
					case u.block == nil:
						*u = use{block: b, first: i, last: i}
					case u.block != b:
						u.spread = true
					default:
						u.last = i
					}
				})
			}
		}
	}
	list, own = make(map[*ir.Block][]sequence), make(map[*ir.Var]bool)
	for _, v := range f.Vars {
		u := uses[v]
		if u == nil || u.block == nil || u.spread {
			continue
		}
		own[v] = true
		list[u.block] = insert(list[u.block], sequence{u.first, u.last, []*ir.Var{v}})
	}
	return list, own
}

// insert adds a sequence to those of a block. Sequences that overlap become one.
func insert(list []sequence, s sequence) []sequence {
	out := make([]sequence, 0, len(list)+1)
	placed := false
	for _, t := range list {
		switch {
		case t.last < s.first:
			out = append(out, t)
		case s.last < t.first:
			if !placed {
				out = append(out, s)
				placed = true
			}
			out = append(out, t)
		default:
			s = sequence{min(s.first, t.first), max(s.last, t.last), append(t.vars, s.vars...)}
		}
	}
	if !placed {
		out = append(out, s)
	}
	return out
}
