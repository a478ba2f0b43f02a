// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Approximate instructions are computed in float64 and rounded to nearest. The result is within the
// error bounds of the PTX manual: rcp, div.full and sqrt 1 or 2 units in the last place, rsqrt
// 2^-22.9, ex2 2 units, lg2 2^-22, sin and cos 2^-20.5 up to 2 pi, tanh 2^-11.

// approximate returns the operation of an approximate instruction on f32 or a 16-bit format.
func approximate(s *spec) *Op {
	if len(s.types) != 1 {
		return nil
	}
	t := s.types[0]
	element, n := lanesOf(t)
	f := FormatOf(element)
	if f == F64 {
		return approximateDouble(s)
	}
	if f == nil || !s.has("approx") && !s.has("full") && f != F32 {
		return nil
	}
	fin := s.finisher(f)
	fin.ftz = fin.ftz || !s.has("approx") && !s.has("full") // PTX before 1.4 flushes by default
	from := decoder(f)
	if s.head == "div" {
		full := s.has("full")
		return withOperands(t, 2, func(a, b, _ uint64) uint64 {
			x, y := from(fin.in(a)), from(fin.in(b))
			if !full && math.Abs(y) > 0x1p126 && !math.IsInf(y, 0) {
				// the reciprocal of y is flushed to zero
				return fin.odd(x * math.Copysign(0, y))
			}
			return fin.odd(divOdd(x, y))
		})
	}
	g := function(s.head)
	if s.has("2pi") { // the angle is a fraction of a full circle
		g = inTurns[s.head]
	}
	if g == nil {
		return nil
	}
	if f == F16 && s.head == "ex2" { // truncated, except on overflow
		fin.how = Zero
		g = func(x float64) float64 {
			if x >= 16 {
				return math.Inf(1)
			}
			return exp2(x)
		}
	}
	lane := func(a, _, _ uint64) uint64 { return fin.odd(g(from(fin.in(a)))) }
	if n > 1 {
		lane = spread(element.Bits(), n, lane)
	}
	return withOperands(t, 1, lane)
}

// function returns the float64 function that an approximate instruction computes.
func function(head string) func(x float64) float64 {
	switch head {
	case "rcp":
		return func(x float64) float64 { return 1 / x }
	case "sqrt":
		return math.Sqrt
	case "rsqrt":
		return func(x float64) float64 { return 1 / math.Sqrt(x) }
	case "ex2":
		return exp2
	case "lg2":
		return math.Log2
	case "sin":
		return func(x float64) float64 { return sineOfTurns(turns(x)) }
	case "cos":
		return func(x float64) float64 { return cosineOfTurns(turns(x)) }
	case "tanh":
		return math.Tanh
	}
	return nil
}

// inTurns are the functions with .2pi, whose argument is a fraction of a full circle, not radians.
var inTurns = map[string]func(x float64) float64{"sin": sineOfTurns, "cos": cosineOfTurns}

func sineOfTurns(x float64) float64 {
	turn := math.Mod(x, 1)
	if turn == 0 {
		return math.Copysign(turn, x)
	}
	return math.Sin(2 * math.Pi * turn)
}

func cosineOfTurns(x float64) float64 { return math.Cos(2 * math.Pi * math.Mod(x, 1)) }

// turns converts radians to a fraction of a full circle. The quotient is truncated to f32, so that
// large angles lose most or all of their precision.
func turns(x float64) float64 {
	const perRadian = 0x1.45f306p-3 // 1 / 2pi as an f32
	return F32.Decode(F32.Encode(x*perRadian, Zero))
}

// exp2 is math.Exp2, but does not overflow to infinity below the range of float64 exponents.
func exp2(x float64) float64 {
	if x < -1000 {
		return 0x1p-1000 * float64(bit(!math.IsInf(x, -1)))
	}
	return math.Exp2(x)
}

// approximateDouble returns the operation of rcp.approx.ftz.f64 or rsqrt.approx{.ftz}.f64. With
// .ftz, only the upper 32 bits of operand and result are used.
func approximateDouble(s *spec) *Op {
	g := function(s.head)
	if g == nil || s.head != "rcp" && s.head != "rsqrt" {
		return nil
	}
	if s.head == "rcp" && !s.has("approx") {
		return nil
	}
	ftz := s.has("ftz")
	return unary(isa.F64, isa.F64, func(a uint64) uint64 {
		if !ftz {
			r := g(double(a))
			if r != r {
				return doubleNaN(s.head, 1, a, 0, 0)
			}
			return math.Float64bits(r)
		}
		a = a >> 32 << 32
		if F64.subnormal(a) {
			a &= F64.sign()
		}
		r := g(double(a))
		if r != r {
			return 0x7fff_ffff_0000_0000
		}
		b := math.Float64bits(r) >> 32 << 32
		if F64.subnormal(b) {
			b &= F64.sign()
		}
		return b
	})
}
