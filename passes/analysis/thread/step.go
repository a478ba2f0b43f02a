// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A Value is a constant, a value that the launch chooses, or unknown.
type Value struct {
	Kind Kind
	N    int64
}

// A Kind is the kind of knowledge about a value.
type Kind uint8

// Kinds of values.
const (
	Unknown Kind = iota
	// Launch values are chosen by the launch, and are the same for all threads.
	Launch
	// A Possible predicate compares such a value: some launch makes it true.
	Possible
	Constant
)

// known returns a constant.
func known(n int64) Value { return Value{Constant, n} }

// An operation is what an instruction computes, for the instructions that are evaluated.
type operation struct {
	kind   isa.Kind
	typ    isa.Type // of the operands; its last type modifier
	width  int      // bits of typ
	signed bool
	to     isa.Type    // result of a conversion
	how    isa.Mod     // of a comparison
	apply  eval.Scalar // the operation on integers, or nil if it needs other rules
}

// operationOf returns the operation of an instruction. It has no width if it is not evaluated.
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
	if !integer(o.typ) && o.typ != isa.Predicate {
		return operation{kind: o.kind}
	}
	o.width, o.signed = max(1, o.typ.Bits()), o.typ.Class() == isa.Signed
	switch o.kind {
	case isa.KindCvt:
		if types != 2 || others != 0 || !integer(o.to) {
			o.to = 0
		}
	case isa.KindSetp:
		if others == 1 && integer(o.typ) {
			o.apply = eval.Compare(o.how, o.typ)
		}
	case isa.KindMadLo:
		o.apply = eval.Plain(isa.KindMulLo, o.typ)
	case isa.KindMadWide:
		o.apply = eval.Plain(isa.KindMulWide, o.typ)
	case isa.KindAdd, isa.KindSub, isa.KindMulLo, isa.KindMulWide, isa.KindDiv, isa.KindRem,
		isa.KindMin, isa.KindMax,
		isa.KindAnd, isa.KindOr, isa.KindXor, isa.KindShl, isa.KindShr:
		switch {
		case others != 0:
			return operation{kind: o.kind}
		case integer(o.typ):
			o.apply = eval.Plain(o.kind, o.typ)
		}
	}
	return o
}

// integer reports whether t is an integer of at most 64 bits.
func integer(t isa.Type) bool {
	switch t.Class() {
	case isa.Unsigned, isa.Signed, isa.Bits:
		return t.Bits() >= 8 && t.Bits() <= 64
	}
	return false
}

// result evaluates the operation.
func (o *operation) result(a, b, c Value) Value {
	if o.width == 0 {
		return Value{}
	}
	switch o.kind {
	case isa.KindMov:
		return a
	case isa.KindCvt:
		return o.converted(a)
	case isa.KindSetp:
		return o.compared(o.cut(a), o.cut(b))
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
			return o.inverted(a)
		}
		return a
	case isa.KindAnd, isa.KindOr:
		if o.typ == isa.Predicate {
			return joined(o.kind, a, b)
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

// inverted evaluates not of a constant.
func (o *operation) inverted(a Value) Value {
	if o.typ == isa.Predicate {
		return known(a.N ^ 1)
	}
	return known(cut(^a.N, o.width, o.signed))
}

// converted evaluates cvt.
func (o *operation) converted(a Value) Value {
	switch {
	case o.to == 0:
		return Value{}
	case a.Kind != Constant:
		return a
	case isAddress(a.N):
		if o.to.Bits() < 64 {
			return Value{}
		}
		return a
	}
	return known(cut(cut(a.N, o.width, o.signed), o.to.Bits(), o.to.Class() == isa.Signed))
}

// arith evaluates an operation on two values.
func (o *operation) arith(a, b Value) Value {
	switch o.kind {
	case isa.KindAdd:
		return add(a, b, o.width, o.signed)
	case isa.KindMulLo, isa.KindMulWide, isa.KindMadLo, isa.KindMadWide:
		if a == known(0) || b == known(0) {
			return known(0)
		}
	case isa.KindDiv, isa.KindShr:
		// still a value that the launch chooses freely
		if a.Kind == Launch && b.Kind == Constant && b.N > 0 &&
			(o.kind == isa.KindDiv && !isAddress(b.N) || b.N < 16) {
			return a
		}
	}
	switch {
	case a.Kind == Launch && (b.Kind == Launch || b == known(0)):
		return a
	case a.Kind != Constant || b.Kind != Constant || o.apply == nil:
		return Value{}
	case isAddress(a.N) || isAddress(b.N):
		if o.kind == isa.KindSub {
			return known(cut(a.N-b.N, o.width, o.signed))
		}
		return Value{} // an address plus an unknown value is unknown
	case (o.kind == isa.KindDiv || o.kind == isa.KindRem) && b.N == 0:
		return Value{} // the hardware decides
	}
	width := o.width
	if o.kind == isa.KindMulWide || o.kind == isa.KindMadWide {
		width *= 2
	}
	return known(cut(int64(o.apply(uint64(a.N), uint64(b.N), 0, 0)), width, o.signed))
}

// add evaluates a sum, one of whose terms may be an address.
func add(a, b Value, width int, signed bool) Value {
	switch {
	case a.Kind == Launch &&
		(b.Kind == Launch || b.Kind == Constant && b.N >= 0 && !isAddress(b.N)),
		b.Kind == Launch && a == known(0):
		return Value{Kind: Launch}
	case a.Kind != Constant || b.Kind != Constant:
		return Value{}
	}
	return known(cut(a.N+b.N, width, signed))
}

// compared evaluates a comparison. A value that depends on the launch may be arbitrarily large or
// small.
func (o *operation) compared(a, b Value) Value {
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
	return known(int64(o.apply(uint64(a.N), uint64(b.N), 0, 0)))
}

// joined evaluates the logical and, or the logical or, of two predicates.
func joined(kind isa.Kind, a, b Value) Value {
	decides := known(0)
	if kind == isa.KindOr {
		decides = known(1)
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

// cut converts a value to an operand of the operation.
func (o *operation) cut(a Value) Value {
	if a.Kind == Constant && o.typ != isa.Predicate {
		a.N = cut(a.N, o.width, o.signed)
	}
	return a
}

// cut returns the low bits of a number. An address keeps the bits that identify its area.
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
