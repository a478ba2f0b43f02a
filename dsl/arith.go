// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Operations whose names end in I take a Go number, as the immediate instructions of other machines do.

// Add is x + y.
func (x Reg[T]) Add(y Reg[T], mods ...Mod) Reg[T] { return x.binary(doAdd, y, mods) }

// AddI is x + n.
func (x Reg[T]) AddI(n int64) Reg[T] { return x.Add(x.like(n)) }

// Sub is x - y.
func (x Reg[T]) Sub(y Reg[T], mods ...Mod) Reg[T] { return x.binary(doSub, y, mods) }

// SubI is x - n.
func (x Reg[T]) SubI(n int64) Reg[T] { return x.Sub(x.like(n)) }

// Mul is x * y; of integers the lower half.
func (x Reg[T]) Mul(y Reg[T], mods ...Mod) Reg[T] { return x.binary(doMul, y, mods) }

// MulI is x * n.
func (x Reg[T]) MulI(n int64) Reg[T] { return x.Mul(x.like(n)) }

// MulHi is the upper half of the product of two integers.
func (x Reg[T]) MulHi(y Reg[T]) Reg[T] { return x.binary(doMulHi, y, nil) }

// Div is x / y. Of F32 it is rounded to the nearest; Approx and Full are faster.
func (x Reg[T]) Div(y Reg[T], mods ...Mod) Reg[T] { return x.binary(doDiv, y, mods) }

// DivI is x / n.
func (x Reg[T]) DivI(n int64) Reg[T] { return x.Div(x.like(n)) }

// Rem is the remainder of x / y.
func (x Reg[T]) Rem(y Reg[T]) Reg[T] { return x.binary(doRem, y, nil) }

// RemI is the remainder of x / n.
func (x Reg[T]) RemI(n int64) Reg[T] { return x.Rem(x.like(n)) }

// CeilDiv is x / n, rounded up, for a positive n.
func (x Reg[T]) CeilDiv(n int64) Reg[T] {
	if n < 1 && x.k != nil {
		x.k.fault(&ruleConstant, "CeilDiv by %d; a positive number is expected", n)
		n = 1
	}
	return x.AddI(n - 1).DivI(n)
}

// Min is the smaller of x and y.
func (x Reg[T]) Min(y Reg[T], mods ...Mod) Reg[T] { return x.binary(doMin, y, mods) }

// MinI is the smaller of x and n.
func (x Reg[T]) MinI(n int64) Reg[T] { return x.Min(x.like(n)) }

// Max is the larger of x and y.
func (x Reg[T]) Max(y Reg[T], mods ...Mod) Reg[T] { return x.binary(doMax, y, mods) }

// MaxI is the larger of x and n.
func (x Reg[T]) MaxI(n int64) Reg[T] { return x.Max(x.like(n)) }

// And is x & y, bit by bit; of predicates, whether both hold.
func (x Reg[T]) And(y Reg[T]) Reg[T] { return x.binary(doAnd, y, nil) }

// AndI is x & n.
func (x Reg[T]) AndI(n int64) Reg[T] { return x.And(x.like(n)) }

// Or is x | y.
func (x Reg[T]) Or(y Reg[T]) Reg[T] { return x.binary(doOr, y, nil) }

// OrI is x | n.
func (x Reg[T]) OrI(n int64) Reg[T] { return x.Or(x.like(n)) }

// Xor is x ^ y.
func (x Reg[T]) Xor(y Reg[T]) Reg[T] { return x.binary(doXor, y, nil) }

// XorI is x ^ n.
func (x Reg[T]) XorI(n int64) Reg[T] { return x.Xor(x.like(n)) }

// Not is every bit of x turned round; of a predicate, its contrary.
func (x Reg[T]) Not() Reg[T] { return x.unary(doNot, nil) }

// Shl is x << n. A count of the width or more gives zero.
func (x Reg[T]) Shl(n Reg[U32]) Reg[T] { return x.shift(doShl, n) }

// ShlI is x << n.
func (x Reg[T]) ShlI(n int64) Reg[T] { return x.shift(doShl, x.count(n)) }

// Shr is x >> n, with copies of the sign where T has one.
func (x Reg[T]) Shr(n Reg[U32]) Reg[T] { return x.shift(doShr, n) }

// ShrI is x >> n.
func (x Reg[T]) ShrI(n int64) Reg[T] { return x.shift(doShr, x.count(n)) }

// Mad is x * y + z; of floats it is rounded once, as FMA.
func (x Reg[T]) Mad(y, z Reg[T], mods ...Mod) Reg[T] { return x.ternary(y, z, mods) }

// MadI is x * n + z.
func (x Reg[T]) MadI(n int64, z Reg[T]) Reg[T] { return x.ternary(x.like(n), z, nil) }

// FMA is x * y + z, rounded once.
func (x Reg[T]) FMA(y, z Reg[T], mods ...Mod) Reg[T] { return x.ternary(y, z, mods) }

// Neg is -x.
func (x Reg[T]) Neg(mods ...Mod) Reg[T] { return x.unary(doNeg, mods) }

// Abs is x without its sign.
func (x Reg[T]) Abs(mods ...Mod) Reg[T] { return x.unary(doAbs, mods) }

// Sqrt is the square root, rounded to the nearest unless a Mod says Approx.
func (x Reg[T]) Sqrt(mods ...Mod) Reg[T] { return x.unary(doSqrt, mods) }

// Rcp is 1 / x, rounded to the nearest unless a Mod says Approx.
func (x Reg[T]) Rcp(mods ...Mod) Reg[T] { return x.unary(doRcp, mods) }

// Rsqrt is 1 / sqrt(x), approximately.
func (x Reg[T]) Rsqrt(mods ...Mod) Reg[T] { return x.unary(doRsqrt, mods) }

// Exp2 is 2 to the power of x, approximately.
func (x Reg[T]) Exp2(mods ...Mod) Reg[T] { return x.unary(doExp2, mods) }

// Log2 is the logarithm to the base 2, approximately.
func (x Reg[T]) Log2(mods ...Mod) Reg[T] { return x.unary(doLog2, mods) }

// Sin is the sine, approximately.
func (x Reg[T]) Sin(mods ...Mod) Reg[T] { return x.unary(doSin, mods) }

// Cos is the cosine, approximately.
func (x Reg[T]) Cos(mods ...Mod) Reg[T] { return x.unary(doCos, mods) }

// Tanh is the hyperbolic tangent, approximately.
func (x Reg[T]) Tanh(mods ...Mod) Reg[T] { return x.unary(doTanh, mods) }

// Exp is e to the power of x, approximately.
func (x Reg[T]) Exp() Reg[T] { return x.MulF(1.4426950408889634).Exp2() }

// PopCount is the number of bits of x that are set.
func (x Reg[T]) PopCount() Reg[U32] { return counted(x, "popc") }

// LeadingZeros is the number of zero bits before the first that is set.
func (x Reg[T]) LeadingZeros() Reg[U32] { return counted(x, "clz") }

// TrailingZeros counts them: the number of the lowest bit that is set, and the width of x where none is.
func (x Reg[T]) TrailingZeros() Reg[U32] { return x.Reverse().LeadingZeros() }

// Reverse is the bits of x in the opposite order.
func (x Reg[T]) Reverse() Reg[T] { return x.unary(doReverse, nil) }

// MulWide is the whole product of two 32-bit integers.
func MulWide[D, S Scalar](x, y Reg[S]) Reg[D] {
	k := either(x, y)
	if k == nil {
		return Reg[D]{}
	}
	d := fresh[D](k)
	k.ins(k.op("mul.wide", x.Type()), d.in(k), x.in(k), y.in(k))
	return d
}

// isOne reports whether x is the constant 1.
func (x Reg[T]) isOne() bool { return x.Constant() && numeral(x.Type()) == ir.Int && x.bits == 1 }

func counted[T Scalar](x Reg[T], head string) Reg[U32] {
	if x.k == nil {
		return Reg[U32]{}
	}
	d := fresh[U32](x.k)
	x.k.ins(x.k.op(head, bits(x.Type().Bits())), d.in(x.k), x.in(x.k))
	return d
}

// like is n as a value beside x.
func (x Reg[T]) like(n int64) Reg[T] {
	if x.k == nil {
		return x
	}
	return Const[T](x.k, n)
}

func (x Reg[T]) likeF(v float64) Reg[T] {
	if x.k == nil {
		return x
	}
	return ConstF[T](x.k, v)
}

// count is the count of a shift.
func (x Reg[T]) count(n int64) Reg[U32] {
	if x.k == nil {
		return Reg[U32]{}
	}
	if n < 0 || n >= int64(x.Type().Bits()) {
		x.k.fault(&ruleConstant, "a shift by %d; 0 to %d is expected", n, x.Type().Bits()-1)
		n = 0
	}
	return Const[U32](x.k, n)
}

// either is the kernel of the first of two values that has one.
func either[A, B Scalar](x Reg[A], y Reg[B]) *Kernel {
	if x.k != nil {
		return x.k
	}
	return y.k
}

//go:noinline
func (x Reg[T]) unary(v verb, mods []Mod) Reg[T] {
	k := x.k
	if k == nil {
		return x
	}
	t := TypeOf[T]()
	if t == isa.Bf16 && (v == doExp2 || v == doTanh) && !k.m.Has(90) {
		return To[T](To[F32](x).unary(v, mods))
	}
	op := k.spelled(v, t, mods)
	if op == nil {
		return x
	}
	d, y := fresh[T](k), x.register()
	compute(k, op, d, y)
	return d
}

//go:noinline
func (x Reg[T]) binary(v verb, y Reg[T], mods []Mod) Reg[T] {
	k := either(x, y)
	if k == nil {
		return x
	}
	t := TypeOf[T]()
	if (x.r == nil || y.r == nil) && integer(t) { // or nothing is known of either
		if z, ok := folded(v, x, y); ok {
			return z
		}
		if z, ok := cheaper(v, x, y); ok {
			return z
		}
	}
	if (t == isa.Bf16 || t == isa.Bf16x2) && !k.m.Has(90) {
		if z, ok := fused(v, x, y, mods); ok {
			return z
		}
	}
	op := k.spelled(v, t, mods)
	if op == nil {
		return x
	}
	d := fresh[T](k)
	compute(k, op, d, x, y)
	return d
}

// fused is an operation on bfloat16 before sm_90, where there is fma alone, which rounds what these round, once.
func fused[T Scalar](v verb, x, y Reg[T], mods []Mod) (Reg[T], bool) {
	switch v {
	case doAdd:
		return x.ternary(x.likeF(1), y, mods), true
	case doSub:
		return y.ternary(x.likeF(-1), x, mods), true
	case doMul:
		return x.ternary(y, x.likeF(math.Copysign(0, -1)), mods), true
	}
	return x, false
}

// computes reports whether there is arithmetic on numbers of t, as there is not on those that memory alone holds.
func (k *Kernel) computes(head string, t isa.Type) bool {
	how := ""
	switch {
	case t == isa.Tf32:
		how = "Bits[dsl.F32] makes it a number that"
	case integer(t) && t.Bits() == 8 || t == isa.B8:
		how = "To[dsl.U32], or To[dsl.S32] of a signed one, makes it a number that"
	case t.Class() == isa.Packed && packed(t) == 1:
		how = "To[dsl.F32] makes it a number that"
	case t.Class() == isa.Packed:
		how = "To[dsl.F16x2] of a pair makes it numbers that"
	default:
		return true
	}
	k.fault(&ruleOperand, "%s of a %s, which is stored, moved and converted; %s the machine computes with", head, t, how)
	return false
}

func (x Reg[T]) shift(v verb, n Reg[U32]) Reg[T] {
	k := either(x, n)
	if k == nil {
		return x
	}
	if n.Constant() && x.k == k {
		if n.bits == 0 {
			return x.kept()
		}
		if t := TypeOf[T](); x.Constant() && integer(t) && n.bits < 32 {
			how, by := doMul, int64(1)<<n.bits
			if v == doShr {
				how = doDiv
			}
			if n, ok := evaluate(verbs[how], t, x.bits, by); ok && (v == doShl || t.Class() == isa.Unsigned) {
				return Reg[T]{k: k, bits: n, scope: k.scope()}
			}
		}
	}
	op := k.spelled(v, TypeOf[T](), nil)
	if op == nil {
		return x
	}
	d := fresh[T](k)
	k.ins(op.text, d.in(k), x.in(k), n.in(k))
	return d
}

//go:noinline
func (x Reg[T]) ternary(y, z Reg[T], mods []Mod) Reg[T] {
	k := either(x, y)
	if k == nil {
		k = z.k
	}
	if k == nil {
		return x
	}
	v, t := doFMA, TypeOf[T]()
	if !floating(t) {
		if x.Constant() && y.Constant() || x.isOne() || y.isOne() || z.Constant() && z.bits == 0 {
			return x.Mul(y).Add(z)
		}
		v = doMad
	}
	op := k.spelled(v, t, mods)
	if op == nil {
		return x
	}
	d := fresh[T](k)
	compute(k, op, d, x, y, z)
	return d
}
