// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl/internal/constant"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Operations whose names end in I take a Go integer as the second operand. Those that end in F
// take a Go floating-point number.

// Add returns x + y.
func (x Reg[T]) Add(y Reg[T], mods ...Mod) Reg[T] { return binary(doAdd, x, y, mods) }

// AddI returns x + n. For unsigned integers n may be negative too, as in x.AddI(-1).
func (x Reg[T]) AddI(n int64) Reg[T] {
	if n, less := negateUnsigned(TypeOf[T](), n); less {
		return x.Sub(like(x, n))
	}
	return x.Add(like(x, n))
}

// Sub returns x - y.
func (x Reg[T]) Sub(y Reg[T], mods ...Mod) Reg[T] { return binary(doSub, x, y, mods) }

// SubI returns x - n.
func (x Reg[T]) SubI(n int64) Reg[T] {
	if n, more := negateUnsigned(TypeOf[T](), n); more {
		return x.Add(like(x, n))
	}
	return x.Sub(like(x, n))
}

// Mul returns x * y; for integers, the lower half of the product.
func (x Reg[T]) Mul(y Reg[T], mods ...Mod) Reg[T] { return binary(doMul, x, y, mods) }

// MulI returns x * n.
func (x Reg[T]) MulI(n int64) Reg[T] { return x.Mul(like(x, n)) }

// MulHi returns the upper half of the product of two integers.
func (x Reg[T]) MulHi(y Reg[T]) Reg[T] { return binary(doMulHi, x, y, nil) }

// Div returns x / y. For F32 the quotient is rounded to nearest; the modifiers Approx and Full
// select the faster approximations.
func (x Reg[T]) Div(y Reg[T], mods ...Mod) Reg[T] { return binary(doDiv, x, y, mods) }

// DivI returns x / n.
func (x Reg[T]) DivI(n int64) Reg[T] { return x.Div(like(x, n)) }

// Rem returns the remainder of the integer division x / y.
func (x Reg[T]) Rem(y Reg[T]) Reg[T] { return binary(doRem, x, y, nil) }

// RemI returns the remainder of x / n.
func (x Reg[T]) RemI(n int64) Reg[T] { return x.Rem(like(x, n)) }

// CeilDiv returns x / n rounded up, for a positive n.
func (x Reg[T]) CeilDiv(n int64) Reg[T] {
	if n < 1 && x.k != nil {
		x.k.fault(&ruleConstant, "divisor of CeilDiv is %d, expected a positive number", n)
		n = 1
	}
	return x.AddI(n - 1).DivI(n)
}

// Min returns the smaller of x and y.
func (x Reg[T]) Min(y Reg[T], mods ...Mod) Reg[T] { return binary(doMin, x, y, mods) }

// MinI returns the smaller of x and n.
func (x Reg[T]) MinI(n int64) Reg[T] { return x.Min(like(x, n)) }

// Max returns the larger of x and y.
func (x Reg[T]) Max(y Reg[T], mods ...Mod) Reg[T] { return binary(doMax, x, y, mods) }

// MaxI returns the larger of x and n.
func (x Reg[T]) MaxI(n int64) Reg[T] { return x.Max(like(x, n)) }

// And returns x & y, or the logical and of predicates.
func (x Reg[T]) And(y Reg[T]) Reg[T] { return binary(doAnd, x, y, nil) }

// AndI returns x & n.
func (x Reg[T]) AndI(n int64) Reg[T] { return x.And(like(x, n)) }

// Or returns x | y, or the logical or of predicates.
func (x Reg[T]) Or(y Reg[T]) Reg[T] { return binary(doOr, x, y, nil) }

// OrI returns x | n.
func (x Reg[T]) OrI(n int64) Reg[T] { return x.Or(like(x, n)) }

// Xor returns x ^ y, or the exclusive or of predicates.
func (x Reg[T]) Xor(y Reg[T]) Reg[T] { return binary(doXor, x, y, nil) }

// XorI returns x ^ n.
func (x Reg[T]) XorI(n int64) Reg[T] { return x.Xor(like(x, n)) }

// Not returns the bitwise complement of x, or the negation of a predicate.
func (x Reg[T]) Not() Reg[T] { return unary(doNot, x, nil) }

// Shl returns x << n. The result is zero if n is at least the width of x.
func (x Reg[T]) Shl(n Reg[U32]) Reg[T] { return shift(doShl, x, n) }

// ShlI returns x << n.
func (x Reg[T]) ShlI(n int64) Reg[T] { return shift(doShl, x, shiftBy(x, n)) }

// Shr returns x >> n, an arithmetic shift for signed types.
func (x Reg[T]) Shr(n Reg[U32]) Reg[T] { return shift(doShr, x, n) }

// ShrI returns x >> n.
func (x Reg[T]) ShrI(n int64) Reg[T] { return shift(doShr, x, shiftBy(x, n)) }

// Mad returns x*y + z. For floats it is rounded once, like FMA.
func (x Reg[T]) Mad(y, z Reg[T], mods ...Mod) Reg[T] { return ternary(x, y, z, mods) }

// MadI returns x*n + z.
func (x Reg[T]) MadI(n int64, z Reg[T]) Reg[T] { return ternary(x, like(x, n), z, nil) }

// FMA returns x*y + z, rounded once.
func (x Reg[T]) FMA(y, z Reg[T], mods ...Mod) Reg[T] { return ternary(x, y, z, mods) }

// Neg returns -x.
func (x Reg[T]) Neg(mods ...Mod) Reg[T] { return unary(doNeg, x, mods) }

// Abs returns the absolute value of x.
func (x Reg[T]) Abs(mods ...Mod) Reg[T] { return unary(doAbs, x, mods) }

// Sqrt returns the square root, rounded to nearest unless mods contains Approx.
func (x Reg[T]) Sqrt(mods ...Mod) Reg[T] { return unary(doSqrt, x, mods) }

// Rcp returns 1 / x, rounded to nearest unless mods contains Approx.
func (x Reg[T]) Rcp(mods ...Mod) Reg[T] { return unary(doRcp, x, mods) }

// Rsqrt returns an approximation of 1 / sqrt(x).
func (x Reg[T]) Rsqrt(mods ...Mod) Reg[T] { return unary(doRsqrt, x, mods) }

// Exp2 returns an approximation of 2 to the power of x.
func (x Reg[T]) Exp2(mods ...Mod) Reg[T] { return unary(doExp2, x, mods) }

// Log2 returns an approximation of the logarithm to base 2.
func (x Reg[T]) Log2(mods ...Mod) Reg[T] { return unary(doLog2, x, mods) }

// Sin returns an approximation of the sine.
func (x Reg[T]) Sin(mods ...Mod) Reg[T] { return unary(doSin, x, mods) }

// Cos returns an approximation of the cosine.
func (x Reg[T]) Cos(mods ...Mod) Reg[T] { return unary(doCos, x, mods) }

// Tanh returns an approximation of the hyperbolic tangent.
func (x Reg[T]) Tanh(mods ...Mod) Reg[T] { return unary(doTanh, x, mods) }

// Exp returns an approximation of e to the power of x.
func (x Reg[T]) Exp() Reg[T] { return x.MulF(1.4426950408889634).Exp2() }

// PopCount returns the number of bits of x that are set.
func (x Reg[T]) PopCount() Reg[U32] { return bitCount(x, "popc") }

// LeadingZeros returns the number of leading zero bits.
func (x Reg[T]) LeadingZeros() Reg[U32] { return bitCount(x, "clz") }

// TrailingZeros returns the number of trailing zero bits. For x = 0 that is the width of x.
func (x Reg[T]) TrailingZeros() Reg[U32] { return x.Reverse().LeadingZeros() }

// Reverse returns the bits of x in reverse order.
func (x Reg[T]) Reverse() Reg[T] { return unary(doReverse, x, nil) }

// MulWide returns the full 64-bit product of two 32-bit integers.
func MulWide[D, S Scalar](x, y Reg[S]) Reg[D] {
	k := kernelOf(x, y)
	if k == nil {
		return Reg[D]{}
	}
	d := fresh[D](k)
	k.ins(k.op("mul.wide", x.Type()), d.in(k), x.in(k), y.in(k))
	return d
}

// isOne reports whether x is the constant 1.
func isOne[T Scalar](x Reg[T]) bool {
	return x.IsConstant() && constant.KindOf(x.Type()) == ir.Int && x.bits == 1
}

func bitCount[T Scalar](x Reg[T], head string) Reg[U32] {
	if x.k == nil {
		return Reg[U32]{}
	}
	d := fresh[U32](x.k)
	x.k.ins(x.k.op(head, bits(x.Type().Bits())), d.in(x.k), x.in(x.k))
	return d
}

// negateUnsigned returns -n and true if n is a negative number that is added to, or subtracted
// from, an unsigned value: PTX has no negative unsigned immediates, so the caller uses the
// opposite operation.
func negateUnsigned(t isa.Type, n int64) (int64, bool) {
	if n >= 0 || n == math.MinInt64 || t.Class() != isa.Unsigned || t == isa.U64 {
		return n, false
	}
	return -n, true
}

// like returns the Go number n as a constant with the type and kernel of x.
func like[T Scalar](x Reg[T], n int64) Reg[T] {
	if x.k == nil {
		return x
	}
	return Const[T](x.k, n)
}

func likeF[T Scalar](x Reg[T], v float64) Reg[T] {
	if x.k == nil {
		return x
	}
	return ConstF[T](x.k, v)
}

// shiftBy returns the shift count n as a value.
func shiftBy[T Scalar](x Reg[T], n int64) Reg[U32] {
	if x.k == nil {
		return Reg[U32]{}
	}
	if n < 0 || n >= int64(x.Type().Bits()) {
		x.k.fault(&ruleConstant, "shift amount is %d, expected 0 to %d", n, x.Type().Bits()-1)
		n = 0
	}
	return Const[U32](x.k, n)
}

// kernelOf returns the kernel of x, or the kernel of y if x is a zero value.
func kernelOf[A, B Scalar](x Reg[A], y Reg[B]) *Kernel {
	if x.k != nil {
		return x.k
	}
	return y.k
}

//go:noinline
func unary[T Scalar](v verb, x Reg[T], mods []Mod) Reg[T] {
	k := x.k
	if k == nil {
		return x
	}
	t := TypeOf[T]()
	if t == isa.Bf16 && (v == doExp2 || v == doTanh) && !k.m.Has(90) {
		return To[T](unary(v, To[F32](x), mods))
	}
	op := k.opcodeFor(v, t, mods)
	if op == nil {
		return x
	}
	d, y := fresh[T](k), x.register()
	emitTyped(k, op, d, y)
	return d
}

//go:noinline
func binary[T Scalar](v verb, x, y Reg[T], mods []Mod) Reg[T] {
	k := kernelOf(x, y)
	if k == nil {
		return x
	}
	t := TypeOf[T]()
	if (x.r == nil || y.r == nil) && isInteger(t) { // or neither operand is a register
		if z, ok := foldInteger(v, x, y); ok {
			return z
		}
		if z, ok := reduceDivision(v, x, y); ok {
			return z
		}
	}
	if (t == isa.Bf16 || t == isa.Bf16x2) && !k.m.Has(90) {
		if z, ok := fuseBF16(v, x, y, mods); ok {
			return z
		}
	}
	op := k.opcodeFor(v, t, mods)
	if op == nil {
		return x
	}
	d := fresh[T](k)
	emitTyped(k, op, d, x, y)
	return d
}

// fuseBF16 computes a bfloat16 operation with fma, because targets before sm_90 have no other
// bfloat16 arithmetic. The result is the same, since fma rounds only once.
func fuseBF16[T Scalar](v verb, x, y Reg[T], mods []Mod) (Reg[T], bool) {
	switch v {
	case doAdd:
		return ternary(x, likeF(x, 1), y, mods), true
	case doSub:
		return ternary(y, likeF(x, -1), x, mods), true
	case doMul:
		return ternary(x, y, likeF(x, math.Copysign(0, -1)), mods), true
	}
	return x, false
}

// hasArithmetic reports whether PTX has arithmetic instructions for type t, and records a finding
// if not. Some types exist only in memory.
func (k *Kernel) hasArithmetic(head string, t isa.Type) bool {
	how := ""
	switch {
	case t == isa.Tf32:
		how = "use Bits[dsl.F32] first"
	case isInteger(t) && t.Bits() == 8 || t == isa.B8:
		how = "convert with To[dsl.U32], or To[dsl.S32] if it is signed, first"
	case t.Class() == isa.Packed && elementCount(t) == 1:
		how = "convert with To[dsl.F32] first"
	case t.Class() == isa.Packed:
		how = "convert pairs with To[dsl.F16x2] first"
	default:
		return true
	}
	k.fault(&ruleOperand,
		"%s is not defined for %s, which can only be stored, moved and converted; %s", head, t, how)
	return false
}

func shift[T Scalar](v verb, x Reg[T], n Reg[U32]) Reg[T] {
	k := kernelOf(x, n)
	if k == nil {
		return x
	}
	if n.IsConstant() && x.k == k {
		if n.bits == 0 {
			return x.snapshot()
		}
		if t := TypeOf[T](); x.IsConstant() && isInteger(t) && n.bits < 32 {
			how, by := doMul, int64(1)<<n.bits
			if v == doShr {
				how = doDiv
			}
			if n, ok := evaluate(how, t, x.bits, by); ok &&
				(v == doShl || t.Class() == isa.Unsigned) {
				return Reg[T]{k: k, bits: n, scope: k.scope()}
			}
		}
	}
	op := k.opcodeFor(v, TypeOf[T](), nil)
	if op == nil {
		return x
	}
	d := fresh[T](k)
	k.ins(op.text, d.in(k), x.in(k), n.in(k))
	return d
}

//go:noinline
func ternary[T Scalar](x, y, z Reg[T], mods []Mod) Reg[T] {
	k := kernelOf(x, y)
	if k == nil {
		k = z.k
	}
	if k == nil {
		return x
	}
	v, t := doFMA, TypeOf[T]()
	if !isFloat(t) {
		if x.IsConstant() && y.IsConstant() || isOne(x) || isOne(y) || z.IsConstant() &&
			z.bits == 0 {
			return x.Mul(y).Add(z)
		}
		v = doMad
	}
	op := k.opcodeFor(v, t, mods)
	if op == nil {
		return x
	}
	d := fresh[T](k)
	emitTyped(k, op, d, x, y, z)
	return d
}
