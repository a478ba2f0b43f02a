// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	mathbits "math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// foldInteger evaluates integer operations at build time if they need no instruction: operations
// on two constants, and identities such as x+0. ok is false if an instruction is needed.
func foldInteger[T Scalar](v verb, x, y Reg[T]) (Reg[T], bool) {
	if x.k == nil || x.k != y.k {
		return x, false
	}
	if y.IsConstant() && x.r != nil && y.k.isInScope(x.scope) {
		switch n := y.bits; v {
		case doAdd, doSub, doOr, doXor:
			return snapshotIf(x, n == 0), n == 0
		case doMul, doDiv:
			return snapshotIf(x, n == 1), n == 1
		case doAnd:
			if n == 0 {
				return Reg[T]{k: x.k, scope: x.k.scope()}, true
			}
		}
		return x, false
	}
	if x.IsConstant() && y.r != nil && y.k.isInScope(y.scope) {
		switch n := x.bits; v {
		case doAdd, doOr, doXor:
			return snapshotIf(y, n == 0), n == 0
		case doMul:
			return snapshotIf(y, n == 1), n == 1
		}
		return x, false
	}
	if !x.IsConstant() || !y.IsConstant() {
		return x, false
	}
	n, ok := evaluate(v, TypeOf[T](), x.bits, y.bits)
	if !x.k.isInScope(x.scope) || !x.k.isInScope(y.scope) {
		x.in(x.k) // reports x if it is invalid
		y.in(x.k)
	}
	return Reg[T]{k: x.k, bits: n, scope: x.k.scope()}, ok
}

// reduceDivision replaces unsigned division by a power of two with a shift, and the remainder
// with a mask. It reports division by zero.
func reduceDivision[T Scalar](v verb, x, y Reg[T]) (Reg[T], bool) {
	if v != doDiv && v != doRem || !y.IsConstant() {
		return x, false
	}
	if y.bits == 0 {
		y.k.fault(&ruleConstant, "division by zero in %s of %s", verbs[v], TypeOf[T]())
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

// foldedKinds are the operations that are evaluated at build time if both operands are constants.
var foldedKinds = [...]isa.Kind{
	doAdd: isa.KindAdd, doSub: isa.KindSub, doMul: isa.KindMulLo, doDiv: isa.KindDiv,
	doRem: isa.KindRem,
	doMin: isa.KindMin, doMax: isa.KindMax, doAnd: isa.KindAnd, doOr: isa.KindOr,
	doXor: isa.KindXor,
}

// evaluate computes an operation on two constants of integer type t, in 64-bit arithmetic. ok is
// false if the result depends on the hardware.
func evaluate(v verb, t isa.Type, a, b int64) (n int64, ok bool) {
	if int(v) >= len(foldedKinds) || foldedKinds[v] == isa.NoKind {
		return 0, false
	}
	signed, wide := t.Class() == isa.Signed, isa.U64
	if signed {
		wide = isa.S64
	}
	switch v {
	case doDiv, doRem:
		if b == 0 || signed && b == -1 {
			return 0, false // left to the hardware
		}
	case doAnd, doOr, doXor:
		wide = isa.B64
	}
	n = int64(eval.Plain(foldedKinds[v], wide)(uint64(a), uint64(b), 0, 0))
	shift := 64 - t.Bits()
	if signed {
		return n << shift >> shift, true
	}
	return int64(uint64(n) << shift >> shift), true
}
