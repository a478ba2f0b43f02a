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
	n := operandCount(s.kind)
	op := doubleOps[s.kind]
	if how == Nearest {
		f := op.nearest
		return withOperands(isa.F64, n, func(a, b, c uint64) uint64 {
			x := f(double(a), double(b), double(c))
			if x != x {
				return doubleNaN(s.kind, n, a, b, c)
			}
			return fin.out(math.Float64bits(x))
		})
	}
	return withOperands(isa.F64, n, func(a, b, c uint64) uint64 {
		v := op.exact(F64.decode(a), F64.decode(b), F64.decode(c), how)
		if v.class == notNumber {
			return doubleNaN(s.kind, n, a, b, c)
		}
		return fin.out(F64.encode(v, how))
	})
}

// doubleNaN returns the NaN result of an f64 operation: the first NaN operand, made quiet, or
// else the default NaN, whose sign bit is set. Operands are examined in the order b, c, a, or a,
// b for a quotient.
func doubleNaN(kind isa.Kind, n int, a, b, c uint64) uint64 {
	order, count := [3]uint64{b, c, a}, 3
	switch {
	case n == 1:
		order, count = [3]uint64{a}, 1
	case kind == isa.KindDiv:
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

// A doubleOp computes an operation of f64: rounded to nearest, or as an exact value.
type doubleOp struct {
	nearest func(a, b, c float64) float64
	exact   func(a, b, c value, how Rounding) value
}

var doubleOps = map[isa.Kind]doubleOp{
	isa.KindAdd: {
		func(a, b, _ float64) float64 { return a + b },
		func(a, b, _ value, how Rounding) value { return sum(a, b, how) },
	},
	isa.KindSub: {
		func(a, b, _ float64) float64 { return a - b },
		func(a, b, _ value, how Rounding) value {
			b.negative = !b.negative
			return sum(a, b, how)
		},
	},
	isa.KindMul: {
		func(a, b, _ float64) float64 { return a * b },
		func(a, b, _ value, _ Rounding) value {
			v, _ := times(a, b)
			return v
		},
	},
	isa.KindDiv: {
		func(a, b, _ float64) float64 { return a / b },
		func(a, b, _ value, _ Rounding) value { return quotient(a, b) },
	},
	isa.KindRcp: {
		func(a, _, _ float64) float64 { return 1 / a },
		func(a, _, _ value, _ Rounding) value { return quotient(F64.decode(F64.one()), a) },
	},
	isa.KindSqrt: {
		func(a, _, _ float64) float64 { return math.Sqrt(a) },
		func(a, _, _ value, _ Rounding) value { return root(a) },
	},
	isa.KindFma: {math.FMA, fused},
	isa.KindMad: {math.FMA, fused},
}
