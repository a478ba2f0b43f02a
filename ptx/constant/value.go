// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package constant evaluates constant expressions by the rules of the manual's section 4.5.
package constant

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A Value is the value of a constant expression. The zero Value stands for a mistake.
type Value struct {
	Type isa.Type // .s64, .u64, .f64, or .f32 for a 0f literal, which is exact and stands alone
	Bits uint64   // in the format of the type
}

// OK reports whether v is a value.
func (v Value) OK() bool { return v.Type != 0 }

// Integer reports whether v is an integer.
func (v Value) Integer() bool { return v.Type == isa.S64 || v.Type == isa.U64 }

// Real reports whether v is a floating-point number.
func (v Value) Real() bool { return v.Type == isa.F64 || v.Type == isa.F32 }

// Float returns a floating-point number.
func (v Value) Float() float64 {
	if v.Type == isa.F32 {
		return float64(math.Float32frombits(uint32(v.Bits)))
	}
	return math.Float64frombits(v.Bits)
}

func double(f float64) Value { return Value{isa.F64, math.Float64bits(f)} }

// Is reports whether an operand consists only of literals.
func Is(o *ptx.Operand) bool {
	switch o.Kind {
	case ptx.Literal:
		return true
	case ptx.Name:
		return o.Text == "WARP_SZ"
	case ptx.Unary, ptx.Binary, ptx.Cond, ptx.Cast, ptx.Paren:
		for i := range o.Args {
			if !Is(&o.Args[i]) {
				return false
			}
		}
		return len(o.Args) > 0
	}
	return false
}

// Of returns the value of an operand, which is the zero Value if the operand is not a constant
// expression without mistakes.
func Of(o *ptx.Operand) Value {
	if !Is(o) {
		return Value{}
	}
	return Evaluate(o, func(*ptx.Operand, string, ...any) {})
}
