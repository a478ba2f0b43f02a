// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// Constants are evaluated by package eval, like the instructions of the emulator.

// An instruction is the PTX instruction that computes an operation, for constant folding.
type instruction struct {
	kind  isa.Kind
	class isa.Class
}

var instructions = [...]instruction{
	OpMul: {isa.KindMulLo, isa.Unsigned},
	OpShl: {isa.KindShl, isa.Bits},
	OpShr: {isa.KindShr, isa.Unsigned},
	OpSar: {isa.KindShr, isa.Signed},
	OpAnd: {isa.KindAnd, isa.Bits},
	OpOr:  {isa.KindOr, isa.Bits},
	OpXor: {isa.KindXor, isa.Bits},
	OpDiv: {isa.KindDiv, isa.Unsigned}, OpRem: {isa.KindRem, isa.Unsigned},
	OpSDiv: {isa.KindDiv, isa.Signed}, OpSRem: {isa.KindRem, isa.Signed},
	OpMin: {isa.KindMin, isa.Unsigned}, OpMax: {isa.KindMax, isa.Unsigned},
	OpSMin: {isa.KindMin, isa.Signed}, OpSMax: {isa.KindMax, isa.Signed},
}

// typeOf returns the type of a class and width, a predicate for width 1, and the zero type if
// there is no such type.
func typeOf(class isa.Class, width int) isa.Type {
	var list [3]isa.Type // bits, unsigned, signed
	switch width {
	case 1:
		return isa.Predicate
	case 8:
		list = [...]isa.Type{isa.B8, isa.U8, isa.S8}
	case 16:
		list = [...]isa.Type{isa.B16, isa.U16, isa.S16}
	case 32:
		list = [...]isa.Type{isa.B32, isa.U32, isa.S32}
	case 64:
		list = [...]isa.Type{isa.B64, isa.U64, isa.S64}
	}
	switch class {
	case isa.Unsigned:
		return list[1]
	case isa.Signed:
		return list[2]
	}
	return list[0]
}

// A constantFunc computes an operation on two constants. The result is sign-extended from the width
// of the operation.
type constantFunc func(a, b int64) int64

// operation returns the function for an operation on constants of a width, or nil if it cannot be
// computed.
func operation(op Op, width int) constantFunc {
	if int(op) >= len(instructions) || instructions[op].kind == isa.NoKind {
		return nil
	}
	f := eval.Plain(instructions[op].kind, typeOf(instructions[op].class, width))
	if f == nil {
		return nil
	}
	return func(a, b int64) int64 { return wrap(width, int64(f(uint64(a), uint64(b), 0, 0))) }
}

// comparison returns the function for OpEq or OpLt on constants of a width.
func comparison(op Op, signed bool, width int) constantFunc {
	class, how := isa.Unsigned, isa.ModEQ
	if signed {
		class = isa.Signed
	}
	if op == OpLt {
		how = isa.ModLT
	}
	if width == 1 {
		width = 8 // predicates are 0 and 1
	}
	t := typeOf(class, width)
	if t == 0 {
		t = typeOf(class, 64)
	}
	f := eval.Compare(how, t)
	return func(a, b int64) int64 { return int64(f(uint64(a), uint64(b), 0, 0)) }
}

// constants returns the function that computes an atom from the values of its two operands, or
// nil.
func constants(a *Atom) constantFunc {
	switch a.Op {
	case OpEq, OpLt:
		return comparison(a.Op, a.Name == "s", max(a.Args[0].Width, a.Args[1].Width))
	}
	if len(a.Args) != 2 {
		return nil
	}
	return operation(a.Op, a.Args[0].Width)
}

// fold computes an operation on constants. The second result is false for a division by zero,
// whose result is undefined, and for operations that have no function.
func fold(op Op, width int, a, b int64) (int64, bool) {
	if (op == OpDiv || op == OpRem || op == OpSDiv || op == OpSRem) && wrap(width, b) == 0 {
		return 0, false
	}
	f := operation(op, width)
	if f == nil {
		return 0, false
	}
	return f(a, b), true
}
