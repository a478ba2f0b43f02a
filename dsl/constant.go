// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A constant is a Go number in the encoding that an operand holds.
type constant struct {
	kind ir.Kind // Int, Single or Double
	bits int64
}

// numeral returns the operand kind of a constant of type t.
func numeral(t isa.Type) ir.Kind {
	switch t {
	case isa.F64:
		return ir.Double
	case isa.F32, isa.Tf32:
		return ir.Single
	}
	return ir.Int
}

// floatConstant returns v as a constant of type t. It fails if t is not a floating-point type, or
// if a finite v overflows in t.
func floatConstant(t isa.Type, v float64) (constant, bool) {
	finite := !math.IsInf(v, 0)
	switch t {
	case isa.F64:
		return constant{ir.Double, int64(math.Float64bits(v))}, true
	case isa.F32, isa.Tf32:
		single := float32(v)
		return constant{ir.Single, int64(math.Float32bits(single))}, !finite ||
			!math.IsInf(float64(single), 0)
	case isa.F16:
		half := halfBits(v)
		return constant{ir.Int, int64(half)}, !finite || half&0x7fff != 0x7c00
	case isa.Bf16:
		brain := brainBits(v)
		return constant{ir.Int, int64(brain)}, !finite || brain&0x7fff != 0x7f80
	case isa.F16x2:
		c, ok := floatConstant(isa.F16, v)
		return constant{ir.Int, c.bits * 0x10001}, ok
	case isa.Bf16x2:
		c, ok := floatConstant(isa.Bf16, v)
		return constant{ir.Int, c.bits * 0x10001}, ok
	case isa.F32x2:
		c, ok := floatConstant(isa.F32, v)
		return constant{ir.Int, c.bits | c.bits<<32}, ok
	}
	return constant{}, false
}

// wholeConstant returns n as a constant of integer type t.
func wholeConstant(t isa.Type, n int64) (constant, bool) {
	width := t.Bits()
	switch {
	case t == isa.Predicate:
		return constant{ir.Int, n & 1}, n == 0 || n == 1
	case t.Class() == isa.Signed:
		return constant{ir.Int, n}, width >= 64 || n >= -1<<(width-1) && n < 1<<(width-1)
	case t == isa.U64 || t == isa.B64:
		return constant{ir.Int, n}, true
	case t.Class() == isa.Unsigned:
		return constant{ir.Int, n}, n >= 0 && n < 1<<width
	}
	return constant{ir.Int, n}, width >= 64 || n >= -1<<(width-1) && n < 1<<width
}

// Const returns the Go integer n as a value of type T.
func Const[T Scalar](k *Kernel, n int64) Reg[T] {
	k = k.sound()
	t := TypeOf[T]()
	if floating(t) || t == isa.Tf32 {
		return ConstF[T](k, float64(n))
	}
	c, ok := wholeConstant(t, n)
	if !ok {
		k.fault(&ruleConstant, "%d is not a valid %s", n, t)
	}
	return k0[T](k, c)
}

// ConstF returns the Go number v as a value of type T, rounded to nearest. For packed types it is
// in every element.
func ConstF[T Scalar](k *Kernel, v float64) Reg[T] {
	k = k.sound()
	t := TypeOf[T]()
	c, ok := constantOf(t, v)
	switch {
	case ok:
	case c.kind == ir.Int && !floating(t):
		k.fault(&ruleConstant, "%v is not a valid %s", v, t)
	default:
		k.fault(&ruleConstant,
			"%v overflows %s; use math.Inf(1) for infinity, or Bits[dsl.%s] for a bit pattern", v,
			t, goName(*new(T)))
	}
	return k0[T](k, c)
}

// k0 returns a constant as a value. PTX has no literals of half precision or of packed pairs, so
// these are moved into a register.
func k0[T Scalar](k *Kernel, c constant) Reg[T] {
	if t := TypeOf[T](); t.Class() == isa.Half || t == isa.F32x2 {
		d := fresh[T](k)
		k.settle(d.r, bits(t.Bits()), c)
		return d
	}
	return Reg[T]{k: k, bits: c.bits, scope: k.scope()}
}

// settle moves a constant into a register of type t and returns the register.
func (k *Kernel) settle(r *ir.Reg, t isa.Type, c constant) {
	k.ins(k.op("mov", t), ir.Operand{Kind: ir.Register, Reg: r},
		ir.Operand{Kind: ir.Int, Value: c.bits})
}

// U8 returns a constant.
func (k *Kernel) U8(n int) Reg[U8] { return Const[U8](k, int64(n)) }

// U16 returns a constant.
func (k *Kernel) U16(n int) Reg[U16] { return Const[U16](k, int64(n)) }

// U32 returns a constant.
func (k *Kernel) U32(n int) Reg[U32] { return Const[U32](k, int64(n)) }

// U64 returns a constant.
func (k *Kernel) U64(n uint64) Reg[U64] { return Const[U64](k, int64(n)) }

// S32 returns a constant.
func (k *Kernel) S32(n int) Reg[S32] { return Const[S32](k, int64(n)) }

// S64 returns a constant.
func (k *Kernel) S64(n int64) Reg[S64] { return Const[S64](k, n) }

// F16 returns a constant, rounded to nearest.
func (k *Kernel) F16(v float64) Reg[F16] { return ConstF[F16](k, v) }

// BF16 returns a constant, rounded to nearest.
func (k *Kernel) BF16(v float64) Reg[BF16] { return ConstF[BF16](k, v) }

// F32 returns a constant, rounded to nearest.
func (k *Kernel) F32(v float64) Reg[F32] { return ConstF[F32](k, v) }

// F64 returns a constant.
func (k *Kernel) F64(v float64) Reg[F64] { return ConstF[F64](k, v) }

// brainBits rounds v to the nearest bfloat16, ties to even.
func brainBits(v float64) uint16 { return small(v, 8, 7) }

// halfBits rounds v to the nearest half, ties to even.
func halfBits(v float64) uint16 { return small(v, 5, 10) }

// small rounds v to a 16-bit floating-point format with the given number of exponent and mantissa
// bits.
func small(v float64, expBits, mantissa int) uint16 {
	sign := uint16(math.Float64bits(v) >> 63 << 15)
	top := uint16(1<<expBits-1) << mantissa // infinity
	a := math.Abs(v)
	if math.IsNaN(v) {
		return sign | top | 1<<(mantissa-1)
	}
	bias := 1<<(expBits-1) - 1
	exp := 1 - bias // exponent of subnormal numbers
	if a >= math.Ldexp(1, exp) {
		exp = math.Ilogb(a)
	}
	if exp > bias {
		return sign | top
	}
	// A mantissa that rounds up to the next power of two carries into the exponent.
	m := math.RoundToEven(math.Ldexp(a, mantissa-exp))
	return sign | min(top, uint16(exp+bias-1)<<mantissa+uint16(m))
}
