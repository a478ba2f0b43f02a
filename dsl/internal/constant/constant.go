// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package constant converts Go numbers to constants of PTX types.
package constant

import (
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Value is a constant in the form in which an operand holds it.
type Value struct {
	Kind ir.Kind // Int, Single or Double
	Bits int64
}

// KindOf returns the operand kind of a constant of type t.
func KindOf(t isa.Type) ir.Kind {
	switch t {
	case isa.F64:
		return ir.Double
	case isa.F32, isa.Tf32:
		return ir.Single
	}
	return ir.Int
}

// Float returns v as a constant of type t, rounded to nearest. ok is false if t is not a
// floating-point type, or if a finite v overflows.
func Float(t isa.Type, v float64) (Value, bool) {
	finite := !math.IsInf(v, 0)
	switch t {
	case isa.F64:
		return Value{ir.Double, int64(math.Float64bits(v))}, true
	case isa.F32, isa.Tf32:
		single := float32(v)
		return Value{ir.Single, int64(math.Float32bits(single))}, !finite ||
			!math.IsInf(float64(single), 0)
	case isa.F16:
		half := f16Bits(v)
		return Value{ir.Int, int64(half)}, !finite || half&0x7fff != 0x7c00
	case isa.Bf16:
		brain := bf16Bits(v)
		return Value{ir.Int, int64(brain)}, !finite || brain&0x7fff != 0x7f80
	case isa.F16x2:
		c, ok := Float(isa.F16, v)
		return Value{ir.Int, c.Bits * 0x10001}, ok
	case isa.Bf16x2:
		c, ok := Float(isa.Bf16, v)
		return Value{ir.Int, c.Bits * 0x10001}, ok
	case isa.F32x2:
		c, ok := Float(isa.F32, v)
		return Value{ir.Int, c.Bits | c.Bits<<32}, ok
	}
	return Value{}, false
}

// Whole returns n as a constant of integer type t. ok is false if t cannot represent n.
func Whole(t isa.Type, n int64) (Value, bool) {
	width := t.Bits()
	switch {
	case t == isa.Predicate:
		return Value{ir.Int, n & 1}, n == 0 || n == 1
	case t.Class() == isa.Signed:
		return Value{ir.Int, n}, width >= 64 || n >= -1<<(width-1) && n < 1<<(width-1)
	case t == isa.U64 || t == isa.B64:
		return Value{ir.Int, n}, true
	case t.Class() == isa.Unsigned:
		return Value{ir.Int, n}, n >= 0 && n < 1<<width
	}
	return Value{ir.Int, n}, width >= 64 || n >= -1<<(width-1) && n < 1<<width
}

// bf16Bits returns the bfloat16 encoding of v, rounded to nearest, ties to even.
func bf16Bits(v float64) uint16 { return smallFloatBits(v, 8, 7) }

// f16Bits returns the binary16 encoding of v, rounded to nearest, ties to even.
func f16Bits(v float64) uint16 { return smallFloatBits(v, 5, 10) }

// smallFloatBits returns the encoding of v in a 16-bit floating-point format with the given
// number of exponent and mantissa bits, rounded to nearest, ties to even.
func smallFloatBits(v float64, expBits, mantissa int) uint16 {
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
