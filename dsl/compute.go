// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// emitTyped appends an instruction whose operands all have type T. The first value is the result.
// The instruction gets the source position of the caller's call, so the caller must not be
// inlined.
//
//go:noinline
func emitTyped[T Scalar](k *Kernel, op *spelling, values ...Reg[T]) {
	in := k.newInstr(k.m.calls.OuterCaller(), op.text, len(values))
	t := values[0].r.Type
	n := leadingRegisters(k, in.Args, values, t)
	of, plain := operandKinds(1)<<(2*n), true
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
			countOperandUses(in.Args[i:i+1], 1)
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
		op.cacheForm(of, in.Form)
	}
}

// leadingRegisters stores values as operands in to, up to the first value that is not a register
// of type t of this kernel, and returns the number of stored operands. Most values are such
// registers, so this is the fast path.
func leadingRegisters[T Scalar](k *Kernel, to []ir.Operand, values []Reg[T], t isa.Type) int {
	to = to[:len(values)]
	for i := range values {
		x := &values[i]
		if x.k != k || x.r == nil || x.r.Type != t || !k.isInScope(x.scope) {
			return i
		}
		to[i].Kind, to[i].Reg = ir.Register, x.r
		x.r.Uses++
	}
	return len(values)
}

// A cachedForm is the instruction form of an opcode for the given operand kinds. emitTyped looks
// it up here instead of in package isa.
type cachedForm struct {
	kinds operandKinds
	form  *isa.Candidate
}

// operandKinds encodes the operand kinds of an instruction: two bits for each operand, after a
// leading 1 bit.
type operandKinds uint16

// Operand kinds.
const (
	aRegister operandKinds = iota
	aWhole
	aSingle
	aDouble
)

// form returns the cached form for the operand kinds, or nil.
func (s *spelling) form(of operandKinds) *isa.Candidate {
	for i := range s.forms {
		if s.forms[i].kinds == of {
			return s.forms[i].form
		}
	}
	return nil
}

// cacheForm caches the form for the operand kinds, in place of the older of the two cached forms.
func (s *spelling) cacheForm(of operandKinds, form *isa.Candidate) {
	s.forms[1] = s.forms[0]
	s.forms[0] = cachedForm{of, form}
}
