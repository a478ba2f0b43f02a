// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// expr converts an expression to postfix form.
func (b *builder) expr(x *Implies) isa.Expr {
	var out isa.Expr
	b.implication(x, &out)
	if len(out) > 64 {
		b.fail("expression has more than 64 steps")
	}
	return out
}

func (b *builder) implication(x *Implies, out *isa.Expr) {
	for i, and := range x.Left.Terms {
		for j, not := range and.Terms {
			b.atom(not, out)
			if j > 0 {
				*out = append(*out, isa.Op{Code: isa.OpAnd})
			}
		}
		if i > 0 {
			*out = append(*out, isa.Op{Code: isa.OpOr})
		}
	}
	if x.Right != nil {
		b.implication(x.Right, out)
		*out = append(*out, isa.Op{Code: isa.OpImplies})
	}
}

func (b *builder) atom(n *Not, out *isa.Expr) {
	switch {
	case n.Not != nil:
		b.atom(n.Not, out)
		*out = append(*out, isa.Op{Code: isa.OpNot})
	case n.Group != nil:
		b.implication(n.Group, out)
	case n.Mod != "":
		if i, ok := b.slotNamed(n.Mod); ok {
			*out = append(*out, isa.Op{Code: isa.OpSlot, N: i})
			return
		}
		if _, ok := b.c.sets[n.Mod]; ok {
			// The form does not use this slot of the instruction, so the condition is false.
			*out = append(*out, isa.Op{Code: isa.OpMod, N: int(isa.NoMod) - 1})
			return
		}
		*out = append(*out, isa.Op{Code: isa.OpMod, N: int(b.r.mod(n.Mod))})
	default:
		i := slices.Index(b.names, n.Name)
		if i < 0 {
			b.r.fail(n.Pos, "form of %s: no operand is called %s", b.r.ins.Name, n.Name)
			return
		}
		if n.Most == "" {
			*out = append(*out, isa.Op{Code: isa.OpOperand, N: i})
			return
		}
		most := slices.Index(b.names, n.Most)
		if most < 0 {
			b.r.fail(n.Pos, "form of %s: no operand is called %s", b.r.ins.Name, n.Most)
			return
		}
		*out = append(*out, isa.Op{Code: isa.OpAtMost, N: i, M: most})
	}
}

// String formats the expression in the notation of the spec.
func (x *Implies) String() string {
	var or []string
	for _, and := range x.Left.Terms {
		var terms []string
		for _, n := range and.Terms {
			terms = append(terms, n.String())
		}
		or = append(or, strings.Join(terms, " & "))
	}
	s := strings.Join(or, " | ")
	if x.Right != nil {
		s += " -> " + x.Right.String()
	}
	return s
}

// String formats the term in the notation of the spec.
func (n *Not) String() string {
	switch {
	case n.Not != nil:
		return "!" + n.Not.String()
	case n.Group != nil:
		return "(" + n.Group.String() + ")"
	case n.Mod != "":
		return n.Mod
	case n.Most != "":
		return n.Name + " <= " + n.Most
	}
	return n.Name
}
