// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// compute appends an instruction on values of one type, the result first. Its position is the call
// of its caller, which therefore must not be inlined.
//
//go:noinline
func compute[T Scalar](k *Kernel, op *spelling, values ...Reg[T]) {
	in := k.room(k.m.calls.OuterCaller(), op.text, len(values))
	t := values[0].r.Type
	n := leading(k, in.Args, values, t)
	of, plain := kinds(1)<<(2*n), true
	for i := n; i < len(values); i++ {
		o := &in.Args[i]
		*o = values[i].in(k)
		of <<= 2
		switch o.Kind {
		case ir.Int:
			of |= aWhole
		case ir.Single:
			of |= aSingle
		case ir.Double:
			of |= aDouble
		default:
			countAll(in.Args[i:i+1], 1)
			plain = plain && o.Reg != nil && o.Reg.Type == t
		}
	}
	if r := in.Guard.Reg; r != nil {
		r.Uses++
	}
	k.put(in)
	if plain {
		in.Form = op.form(of)
	}
	if in.Form == nil && k.bind(in) && plain && k.m.binder.Lasts() {
		op.keep(of, in.Form)
	}
}

// leading converts values to operands, up to the first that is not a plain register of type t in
// this kernel. Most values are such registers, so this is the fast path.
func leading[T Scalar](k *Kernel, to []ir.Operand, values []Reg[T], t isa.Type) int {
	to = to[:len(values)]
	for i := range values {
		x := &values[i]
		if x.k != k || x.r == nil || x.r.Type != t || !k.reaches(x.scope) {
			return i
		}
		to[i].Kind, to[i].Reg = ir.Register, x.r
		x.r.Uses++
	}
	return len(values)
}

// A settled is a cached instruction form: the form of an opcode for given operand kinds. See
// compute.
type settled struct {
	kinds kinds
	form  *isa.Candidate
}

// kinds encodes the operand kinds of an instruction on values of one type: two bits each, after a
// leading one.
type kinds uint16

// Operand kinds.
const (
	aRegister kinds = iota
	aWhole
	aSingle
	aDouble
)

// form returns the form for the operand kinds, or nil if it is not cached.
func (s *spelling) form(of kinds) *isa.Candidate {
	for i := range s.forms {
		if s.forms[i].kinds == of {
			return s.forms[i].form
		}
	}
	return nil
}

// keep caches the form for the operand kinds.
func (s *spelling) keep(of kinds, form *isa.Candidate) {
	s.forms[1] = s.forms[0]
	s.forms[0] = settled{of, form}
}
