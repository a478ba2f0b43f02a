// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A Value is the result of an evaluation. N is valid only if Kind is Constant.
type Value struct {
	Kind Kind
	N    int64
}

// A Kind specifies what is known about a value.
type Kind uint8

// Kinds of values.
const (
	Unknown Kind = iota
	// Launch values are chosen by the launch, and are the same for all threads.
	Launch
	// A Possible predicate compares a Launch value. Some launch makes it true.
	Possible
	Constant
)

// constant returns the constant n.
func constant(n int64) Value { return Value{Constant, n} }

// An operation describes what an instruction computes: its kind, the types of its operands and
// result, and its modifiers. It exists for the instructions that Value evaluates.
type operation struct {
	kind   isa.Kind
	typ    isa.Type // of the operands; its last type modifier
	width  int      // bits of typ
	signed bool
	to     isa.Type // result type of a conversion
	how    isa.Mod  // operator of a comparison
	// evaluates the operation on integers; nil if the operation needs other rules
	apply eval.Scalar
	// evaluates the operation on constants, if no rule of this package does
	exact    eval.Scalar
	operands int // of exact
}

// operationOf returns the operation of an instruction. Its width is 0 if the instruction is not
// evaluated.
func operationOf(in *ir.Instr) (o operation) {
	if in.Form == nil {
		return o
	}
	o.kind = in.Kind()
	types, others := 0, 0
	for _, m := range in.Mods() {
		switch t := m.Type(); {
		case m == isa.NoMod:
		case t != 0:
			if types++; types == 1 {
				o.to = t
			}
			o.typ = t
		default:
			others++
			o.how = m
		}
	}
	if !isInteger(o.typ) && o.typ != isa.Predicate {
		return exactOperation(in)
	}
	o.width, o.signed = max(1, o.typ.Bits()), o.typ.Class() == isa.Signed
	switch o.kind {
	case isa.KindCvt:
		if types != 2 || others != 0 || !isInteger(o.to) {
			return exactOperation(in)
		}
	case isa.KindSetp:
		if others != 1 || !isInteger(o.typ) {
			return exactOperation(in)
		}
		o.apply = eval.Compare(o.how, o.typ)
	case isa.KindMadLo:
		o.apply = eval.Plain(isa.KindMulLo, o.typ)
	case isa.KindMadWide:
		o.apply = eval.Plain(isa.KindMulWide, o.typ)
	case isa.KindAdd, isa.KindSub, isa.KindMulLo, isa.KindMulWide, isa.KindDiv, isa.KindRem,
		isa.KindMin, isa.KindMax,
		isa.KindAnd, isa.KindOr, isa.KindXor, isa.KindShl, isa.KindShr:
		switch {
		case others != 0, o.kind == isa.KindXor && o.typ == isa.Predicate:
			return exactOperation(in)
		case isInteger(o.typ):
			o.apply = eval.Plain(o.kind, o.typ)
		}
	case isa.KindMov, isa.KindSelp, isa.KindNot:
	default:
		return exactOperation(in)
	}
	return o
}

// isInteger reports whether t is an integer type of 8 to 64 bits that is not packed.
func isInteger(t isa.Type) bool {
	if _, n := t.Elements(); n != 1 {
		return false
	}
	switch t.Class() {
	case isa.Unsigned, isa.Signed, isa.Bits:
		return t.Bits() >= 8 && t.Bits() <= 64
	}
	return false
}

// result evaluates the operation on its operands.
func (o *operation) result(a, b, c Value) Value {
	if o.width == 0 {
		return Value{}
	}
	switch o.kind {
	case isa.KindMov:
		return a
	case isa.KindCvt:
		return o.convert(a)
	case isa.KindSetp:
		return o.compare(o.cut(a), o.cut(b))
	case isa.KindSelp:
		switch {
		case c.Kind != Constant:
			return Value{}
		case c.N != 0:
			return a
		}
		return b
	case isa.KindNot:
		if a.Kind == Constant {
			return o.not(a)
		}
		return a
	case isa.KindAnd, isa.KindOr:
		if o.typ == isa.Predicate {
			return combine(o.kind, a, b)
		}
	case isa.KindMadLo, isa.KindMadWide:
		width := o.width
		if o.kind == isa.KindMadWide {
			width *= 2
		}
		return add(o.arith(o.cut(a), o.cut(b)), c, width, o.signed)
	}
	return o.arith(o.cut(a), o.cut(b))
}

// not evaluates the not operation on a constant.
func (o *operation) not(a Value) Value {
	if o.typ == isa.Predicate {
		return constant(a.N ^ 1)
	}
	return constant(cut(^a.N, o.width, o.signed))
}

// convert evaluates cvt.
func (o *operation) convert(a Value) Value {
	switch {
	case a.Kind != Constant:
		return a
	case isAddress(a.N):
		if o.to.Bits() < 64 {
			return Value{}
		}
		return a
	}
	return constant(cut(cut(a.N, o.width, o.signed), o.to.Bits(), o.to.Class() == isa.Signed))
}

// arith evaluates an arithmetic operation on two values.
func (o *operation) arith(a, b Value) Value {
	switch o.kind {
	case isa.KindAdd:
		return add(a, b, o.width, o.signed)
	case isa.KindMulLo, isa.KindMulWide, isa.KindMadLo, isa.KindMadWide:
		if a == constant(0) || b == constant(0) {
			return constant(0)
		}
	case isa.KindDiv, isa.KindShr:
		// the result is also a value that the launch chooses freely
		if a.Kind == Launch && b.Kind == Constant && b.N > 0 &&
			(o.kind == isa.KindDiv && !isAddress(b.N) || b.N < 16) {
			return a
		}
	}
	switch {
	case a.Kind == Launch && (b.Kind == Launch || b == constant(0)):
		return a
	case a.Kind != Constant || b.Kind != Constant || o.apply == nil:
		return Value{}
	case isAddress(a.N) || isAddress(b.N):
		if o.kind == isa.KindSub {
			return constant(cut(a.N-b.N, o.width, o.signed))
		}
		return Value{} // an address plus an unknown value is unknown
	case (o.kind == isa.KindDiv || o.kind == isa.KindRem) && b.N == 0:
		return Value{} // the result depends on the hardware
	}
	width := o.width
	if o.kind == isa.KindMulWide || o.kind == isa.KindMadWide {
		width *= 2
	}
	return constant(cut(int64(o.apply(uint64(a.N), uint64(b.N), 0, 0)), width, o.signed))
}

// add evaluates a sum. One of its terms may be an address.
func add(a, b Value, width int, signed bool) Value {
	switch {
	case a.Kind == Launch &&
		(b.Kind == Launch || b.Kind == Constant && b.N >= 0 && !isAddress(b.N)),
		b.Kind == Launch && a == constant(0):
		return Value{Kind: Launch}
	case a.Kind != Constant || b.Kind != Constant:
		return Value{}
	}
	return constant(cut(a.N+b.N, width, signed))
}

// compare evaluates a comparison. A value that the launch chooses may be arbitrarily large or
// small.
func (o *operation) compare(a, b Value) Value {
	switch {
	case o.apply == nil, a.Kind == Unknown, b.Kind == Unknown, a.Kind == Possible,
		b.Kind == Possible, isAddress(a.N), isAddress(b.N):
		return Value{}
	case a.Kind == Launch, b.Kind == Launch:
		if o.how == isa.ModEQ || o.how == isa.ModNE {
			return Value{}
		}
		return Value{Kind: Possible}
	}
	return constant(int64(o.apply(uint64(a.N), uint64(b.N), 0, 0)))
}

// combine evaluates the logical and, or the logical or, of two predicates.
func combine(kind isa.Kind, a, b Value) Value {
	decides := constant(0)
	if kind == isa.KindOr {
		decides = constant(1)
	}
	switch {
	case a == decides, b == decides:
		return decides
	case a.Kind == Constant:
		return b
	case b.Kind == Constant:
		return a
	case a.Kind == Possible && b.Kind == Possible:
		return a
	}
	return Value{}
}

// cut converts a constant to the operand type of the operation.
func (o *operation) cut(a Value) Value {
	if a.Kind == Constant && o.typ != isa.Predicate {
		a.N = cut(a.N, o.width, o.signed)
	}
	return a
}

// cut returns the low width bits of n, sign-extended or zero-extended. An address is returned
// unchanged, because its high bits identify the area.
func cut(n int64, width int, signed bool) int64 {
	if width >= 64 || isAddress(n) {
		return n
	}
	shift := 64 - width
	if signed {
		return n << shift >> shift
	}
	return int64(uint64(n) << shift >> shift)
}
