// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
)

// doubleArithmetic returns the operations of floatArithmetic for f64. Rounding to nearest uses Go's
// float64 arithmetic; other roundings use integers.
func doubleArithmetic(s *spec) *Op {
	how := s.rounding()
	fin := s.finisher(F64)
	fin.ftz = false // .ftz has no effect in double precision
	n := operandCount(s.head)
	if how == Nearest {
		f := nearestDouble(s.head)
		return withOperands(isa.F64, n, func(a, b, c uint64) uint64 {
			x := f(double(a), double(b), double(c))
			if x != x {
				return doubleNaN(s.head, n, a, b, c)
			}
			return fin.out(math.Float64bits(x))
		})
	}
	return withOperands(isa.F64, n, func(a, b, c uint64) uint64 {
		v := soft(s.head, F64.decode(a), F64.decode(b), F64.decode(c), how)
		if v.class == notNumber {
			return doubleNaN(s.head, n, a, b, c)
		}
		return fin.out(F64.encode(v, how))
	})
}

// doubleNaN returns the NaN result of an f64 operation: the first NaN operand, made quiet, or else
// the default NaN, whose sign bit is set. Operands are examined in the order b, c, a, except for a
// quotient, a, b.
func doubleNaN(head string, n int, a, b, c uint64) uint64 {
	order, count := [3]uint64{b, c, a}, 3
	switch {
	case n == 1:
		order, count = [3]uint64{a}, 1
	case head == "div":
		order, count = [3]uint64{a, b}, 2
	case n == 2:
		order, count = [3]uint64{b, a}, 2
	}
	for _, x := range order[:count] {
		if F64.isNaN(x) {
			return x | 1<<51
		}
	}
	return F64.sign() | F64.nan
}

func nearestDouble(head string) func(a, b, c float64) float64 {
	switch head {
	case "add":
		return func(a, b, _ float64) float64 { return a + b }
	case "sub":
		return func(a, b, _ float64) float64 { return a - b }
	case "mul":
		return func(a, b, _ float64) float64 { return a * b }
	case "div":
		return func(a, b, _ float64) float64 { return a / b }
	case "rcp":
		return func(a, _, _ float64) float64 { return 1 / a }
	case "sqrt":
		return func(a, _, _ float64) float64 { return math.Sqrt(a) }
	}
	return math.FMA
}

// soft computes an operation on exact values and rounds once.
func soft(head string, a, b, c value, how Rounding) value {
	switch head {
	case "add":
		return sum(a, b, how)
	case "sub":
		b.negative = !b.negative
		return sum(a, b, how)
	case "mul":
		v, _ := times(a, b)
		return v
	case "div":
		return quotient(a, b)
	case "rcp":
		return quotient(F64.decode(F64.one()), a)
	case "sqrt":
		return root(a)
	}
	return fused(a, b, c, how)
}
