// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"cmp"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A sequence is the list of instructions in a block that pass arguments to a call and read its
// results. Its .param variables are declared in a scope around it, which tells ptxas their
// lifetime and improves readability.
type sequence struct {
	first, last int // indexes of instructions in the block
	vars        []*ir.Var
}

// sequences finds the call sequences in each block of f, in instruction order. own contains the
// variables declared in them.
func sequences(f *ir.Func) (list map[*ir.Block][]sequence, own map[*ir.Var]bool) {
	type use struct {
		block       *ir.Block
		first, last int
		spread      bool // used in several blocks
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
		list[u.block] = append(list[u.block], sequence{u.first, u.last, []*ir.Var{v}})
	}
	declared := make(map[*ir.Var]int, len(f.Vars))
	for i, v := range f.Vars {
		declared[v] = i
	}
	for b, found := range list {
		list[b] = joined(found)
		for _, s := range list[b] {
			slices.SortFunc(s.vars, func(x, y *ir.Var) int {
				return cmp.Compare(declared[x], declared[y])
			})
		}
	}
	return list, own
}

// joined returns the sequences in instruction order, with overlapping sequences merged.
func joined(list []sequence) []sequence {
	slices.SortStableFunc(list, func(a, b sequence) int { return cmp.Compare(a.first, b.first) })
	out := list[:0]
	for _, s := range list {
		if n := len(out); n > 0 && s.first <= out[n-1].last {
			last := &out[n-1]
			last.last = max(last.last, s.last)
			last.vars = append(last.vars, s.vars...)
			continue
		}
		out = append(out, s)
	}
	return out
}
