// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl/internal/constant"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Const returns the Go integer n as a constant of type T. A value that T cannot represent is
// reported.
func Const[T Scalar](k *Kernel, n int64) Reg[T] {
	k = k.sound()
	t := TypeOf[T]()
	if isFloat(t) || t == isa.Tf32 {
		return ConstF[T](k, float64(n))
	}
	c, ok := constant.Whole(t, n)
	if !ok {
		k.fault(&ruleConstant, "%d is not a valid %s", n, t).withFix(widerConstant(t, n))
	}
	return k0[T](k, c)
}

// ConstF returns the Go number v as a constant of type T, rounded to nearest. For packed types
// every element has the value v.
func ConstF[T Scalar](k *Kernel, v float64) Reg[T] {
	k = k.sound()
	t := TypeOf[T]()
	c, ok := constantOf(t, v)
	switch {
	case ok:
	case c.Kind == ir.Int && !isFloat(t):
		k.fault(&ruleConstant, "%v is not a valid %s", v, t)
	default:
		k.fault(&ruleConstant,
			"%v overflows %s; use math.Inf(1) for infinity, or Bits[dsl.%s] for a bit pattern", v,
			t, goName(*new(T)))
	}
	return k0[T](k, c)
}

// widerConstant returns the edit that declares the constant n with the narrowest unsigned type that
// holds it, or nil if the constant is not one of U8, U16 or U32 that is too large.
func widerConstant(t isa.Type, n int64) source.Edit {
	from, to := "", "U64"
	switch t {
	case isa.U8:
		from = "U8"
	case isa.U16:
		from = "U16"
	case isa.U32:
		from = "U32"
	}
	switch {
	case from == "" || n < 0:
		return nil
	case n <= math.MaxUint16:
		to = "U16"
	case n <= math.MaxUint32:
		to = "U32"
	}
	return source.Rename(from, to)
}

// k0 returns a constant as a Reg. PTX has no immediate operands of half precision or of packed
// pairs, so these constants are moved into a register.
func k0[T Scalar](k *Kernel, c constant.Value) Reg[T] {
	if t := TypeOf[T](); t.Class() == isa.Half || t == isa.F32x2 {
		d := fresh[T](k)
		k.moveConstant(d.r, bits(t.Bits()), c)
		return d
	}
	return Reg[T]{k: k, bits: c.Bits, scope: k.scope()}
}

// moveConstant emits a mov of a constant into register r of type t.
func (k *Kernel) moveConstant(r *ir.Reg, t isa.Type, c constant.Value) {
	k.ins(k.op("mov", t), ir.Operand{Kind: ir.Register, Reg: r},
		ir.Operand{Kind: ir.Int, Value: c.Bits})
}

// U8 returns n as a constant. An n that does not fit is reported.
func (k *Kernel) U8(n int) Reg[U8] { return Const[U8](k, int64(n)) }

// U16 returns n as a constant. An n that does not fit is reported.
func (k *Kernel) U16(n int) Reg[U16] { return Const[U16](k, int64(n)) }

// U32 returns n as a constant. An n that does not fit is reported.
func (k *Kernel) U32(n int) Reg[U32] { return Const[U32](k, int64(n)) }

// U64 returns n as a constant.
func (k *Kernel) U64(n uint64) Reg[U64] { return Const[U64](k, int64(n)) }

// S32 returns n as a constant. An n that does not fit is reported.
func (k *Kernel) S32(n int) Reg[S32] { return Const[S32](k, int64(n)) }

// S64 returns n as a constant.
func (k *Kernel) S64(n int64) Reg[S64] { return Const[S64](k, n) }

// F16 returns v as a constant, rounded to nearest.
func (k *Kernel) F16(v float64) Reg[F16] { return ConstF[F16](k, v) }

// BF16 returns v as a constant, rounded to nearest.
func (k *Kernel) BF16(v float64) Reg[BF16] { return ConstF[BF16](k, v) }

// F32 returns v as a constant, rounded to nearest.
func (k *Kernel) F32(v float64) Reg[F32] { return ConstF[F32](k, v) }

// F64 returns v as a constant.
func (k *Kernel) F64(v float64) Reg[F64] { return ConstF[F64](k, v) }
