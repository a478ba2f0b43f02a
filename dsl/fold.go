// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	mathbits "math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// folded evaluates integer operations that need no instruction: those on two constants, and
// identities such as x+0.
func folded[T Scalar](v verb, x, y Reg[T]) (Reg[T], bool) {
	if x.k == nil || x.k != y.k {
		return x, false
	}
	if y.IsConstant() && x.r != nil && y.k.reaches(x.scope) {
		switch n := y.bits; v {
		case doAdd, doSub, doOr, doXor:
			return keptIf(x, n == 0), n == 0
		case doMul, doDiv:
			return keptIf(x, n == 1), n == 1
		case doAnd:
			if n == 0 {
				return Reg[T]{k: x.k, scope: x.k.scope()}, true
			}
		}
		return x, false
	}
	if x.IsConstant() && y.r != nil && y.k.reaches(y.scope) {
		switch n := x.bits; v {
		case doAdd, doOr, doXor:
			return keptIf(y, n == 0), n == 0
		case doMul:
			return keptIf(y, n == 1), n == 1
		}
		return x, false
	}
	if !x.IsConstant() || !y.IsConstant() {
		return x, false
	}
	n, ok := evaluate(verbs[v], TypeOf[T](), x.bits, y.bits)
	if !x.k.reaches(x.scope) || !x.k.reaches(y.scope) {
		x.in(x.k) // reports x as invalid
		y.in(x.k)
	}
	return Reg[T]{k: x.k, bits: n, scope: x.k.scope()}, ok
}

// cheaper replaces unsigned division and remainder by a power of two with a shift and a mask.
func cheaper[T Scalar](v verb, x, y Reg[T]) (Reg[T], bool) {
	if v != doDiv && v != doRem || !y.IsConstant() {
		return x, false
	}
	if y.bits == 0 {
		y.k.fault(&ruleConstant, "division by zero: %s of %s", verbs[v], TypeOf[T]())
		return x, true
	}
	if x.r == nil || TypeOf[T]().Class() != isa.Unsigned {
		return x, false
	}
	n := uint64(y.bits)
	if n == 0 || n&(n-1) != 0 {
		return x, false
	}
	if v == doRem {
		return x.AndI(int64(n - 1)), true
	}
	return x.ShrI(int64(mathbits.TrailingZeros64(n))), true
}

// evaluate computes an operation on two constants of an integer type.
func evaluate(head string, t isa.Type, a, b int64) (n int64, ok bool) {
	signed := t.Class() == isa.Signed
	switch head {
	case "add":
		n = a + b
	case "sub":
		n = a - b
	case "mul":
		n = a * b
	case "and":
		n = a & b
	case "or":
		n = a | b
	case "xor":
		n = a ^ b
	case "div", "rem":
		switch {
		case b == 0 || signed && b == -1:
			return 0, false // evaluated by the hardware
		case head == "div" && signed:
			n = a / b
		case head == "div":
			n = int64(uint64(a) / uint64(b))
		case signed:
			n = a % b
		default:
			n = int64(uint64(a) % uint64(b))
		}
	case "min", "max":
		less := a < b
		if !signed {
			less = uint64(a) < uint64(b)
		}
		if n = b; less == (head == "min") {
			n = a
		}
	default:
		return 0, false
	}
	shift := 64 - t.Bits()
	if signed {
		return n << shift >> shift, true
	}
	return int64(uint64(n) << shift >> shift), true
}
