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
	element, n := t.Elements()
	f := FormatOf(element)
	if f == F64 {
		return approximateDouble(s)
	}
	if f == nil || !s.has(isa.ModApprox) && s.kind != isa.KindDivFull && f != F32 {
		return nil
	}
	fin := s.finisher(f)
	// PTX before 1.4 flushes by default
	fin.ftz = fin.ftz || !s.has(isa.ModApprox) && s.kind != isa.KindDivFull
	from := decoder(f)
	if s.kind == isa.KindDiv || s.kind == isa.KindDivFull {
		full := s.kind == isa.KindDivFull
		return withOperands(t, 2, func(a, b, _ uint64) uint64 {
			x, y := from(fin.in(a)), from(fin.in(b))
			if !full && math.Abs(y) > 0x1p126 && !math.IsInf(y, 0) {
				// the reciprocal of y is flushed to zero
				return fin.odd(x * math.Copysign(0, y))
			}
			return fin.odd(divOdd(x, y))
		})
	}
	g := functions[s.kind]
	if s.has(isa.ModTurns) { // the angle is a fraction of a full circle
		g = inTurns[s.kind]
	}
	if g == nil {
		return nil
	}
	if f == F16 && s.kind == isa.KindEx2 { // truncated, except on overflow
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

// functions are the float64 functions that approximate instructions compute.
var functions = map[isa.Kind]func(x float64) float64{
	isa.KindRcp:   func(x float64) float64 { return 1 / x },
	isa.KindSqrt:  math.Sqrt,
	isa.KindRsqrt: func(x float64) float64 { return 1 / math.Sqrt(x) },
	isa.KindEx2:   exp2,
	isa.KindLg2:   math.Log2,
	isa.KindSin:   func(x float64) float64 { return sineOfTurns(turns(x)) },
	isa.KindCos:   func(x float64) float64 { return cosineOfTurns(turns(x)) },
	isa.KindTanh:  math.Tanh,
}

// inTurns maps instruction kinds with .2pi, whose argument is a fraction of a full circle instead
// of an angle in radians, to their functions.
var inTurns = map[isa.Kind]func(x float64) float64{
	isa.KindSin: sineOfTurns, isa.KindCos: cosineOfTurns,
}

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
	if s.kind != isa.KindRsqrt && (s.kind != isa.KindRcp || !s.has(isa.ModApprox)) {
		return nil
	}
	g, ftz := functions[s.kind], s.has(isa.ModFTZ)
	return unary(isa.F64, isa.F64, func(a uint64) uint64 {
		if !ftz {
			r := g(double(a))
			if r != r {
				return doubleNaN(s.kind, 1, a, 0, 0)
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
