// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	mathbits "math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// folded evaluates integer operations at build time if they need no instruction: operations on two
// constants, and identities such as x+0.
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
	n, ok := evaluate(v, TypeOf[T](), x.bits, y.bits)
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

// foldedKinds are the operations that are evaluated while the kernel is built.
var foldedKinds = [...]isa.Kind{
	doAdd: isa.KindAdd, doSub: isa.KindSub, doMul: isa.KindMulLo, doDiv: isa.KindDiv,
	doRem: isa.KindRem,
	doMin: isa.KindMin, doMax: isa.KindMax, doAnd: isa.KindAnd, doOr: isa.KindOr,
	doXor: isa.KindXor,
}

// evaluate computes an operation on two constants of an integer type, in 64 bits.
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
			return 0, false // evaluated by the hardware
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
