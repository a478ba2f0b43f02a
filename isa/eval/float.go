// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
)

// rounding returns the rounding that the opcode specifies; the default is to nearest.
func (s *spec) rounding() Rounding {
	how, _ := choose(s, roundings)
	return how
}

var roundings = map[isa.Mod]Rounding{
	isa.ModRN: Nearest, isa.ModRZ: Zero, isa.ModRM: Down, isa.ModRP: Up, isa.ModRNA: NearestAway,
}

// Intermediate results of formats narrower than f64 are float64, rounded to odd: the lowest bit is
// set if the result is inexact. Rounding such a number again gives the correctly rounded result in
// every rounding mode, because float64 has at least two more bits than those formats.

// odd rounds to odd: it sets the lowest bit of x if the exact result x+rest is not x.
func odd(x, rest float64) float64 {
	if rest == 0 || math.Float64bits(x)&1 != 0 || x-x != 0 {
		return x
	}
	b := math.Float64bits(x)
	if (rest > 0) == (x > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

func addOdd(a, b float64) float64 {
	s := a + b
	t := s - a
	rest := (a - (s - t)) + (b - t)
	if rest == 0 || rest != rest {
		return s
	}
	return odd(s, rest)
}

// fmaOdd returns a*b + c rounded to odd, for operands whose product is exact in float64.
func fmaOdd(a, b, c float64) float64 { return addOdd(float64(a*b), c) }

func divOdd(a, b float64) float64 {
	q := a / b
	rest := math.FMA(-q, b, a)
	if rest == 0 || rest != rest || q-q != 0 {
		return q
	}
	if b < 0 {
		rest = -rest
	}
	return odd(q, rest)
}

func sqrtOdd(a float64) float64 {
	r := math.Sqrt(a)
	rest := math.FMA(-r, r, a)
	if rest == 0 || rest != rest || r-r != 0 {
		return r
	}
	return odd(r, rest)
}

// zeroSum sets the sign of a zero sum: when rounding down, it is -0 unless both terms are +0.
func zeroSum(s, a, b float64, how Rounding) float64 {
	plus := a == 0 && b == 0 && !math.Signbit(a) && !math.Signbit(b)
	if s == 0 && how == Down && !plus {
		return math.Copysign(0, -1)
	}
	return s
}

// A finisher rounds, flushes and clamps results.
type finisher struct {
	format *Format
	how    Rounding
	ftz    bool
	sat    bool
	relu   bool
}

func (s *spec) finisher(f *Format) finisher {
	return finisher{f, s.rounding(), s.has(isa.ModFTZ), s.has(isa.ModSat), s.has(isa.ModReLU)}
}

// subnormal reports whether code encodes a subnormal number.
func (f *Format) subnormal(code uint64) bool {
	code &^= f.sign()
	return code != 0 && code>>(f.mantissa+f.unused) == 0
}

// isNaN reports whether code encodes a NaN.
func (f *Format) isNaN(code uint64) bool {
	code &^= f.sign()
	switch f.special {
	case ieee:
		return code > (1<<f.exponent-1)<<f.mantissa<<f.unused
	case nanOnly:
		return code == f.nan
	}
	return false
}

// least returns the smallest positive normal number of the format.
func (f *finisher) least() float64 {
	return math.Float64frombits(uint64(1024-f.format.bias) << 52)
}

// tiny reports whether a result is subnormal after rounding to the precision of the format with an
// unbounded exponent.
func (f *finisher) tiny(x float64) bool {
	least := f.least()
	return math.Abs(x) < least && math.Abs(f.format.Decode(f.format.Encode(x*4, f.how))) < least*4
}

// one returns the code of the value 1.
func (f *Format) one() uint64 { return uint64(f.bias) << f.mantissa << f.unused }

// in returns the code of an operand, with a subnormal number replaced by zero if the opcode
// requires it.
func (f *finisher) in(code uint64) uint64 {
	if f.ftz && f.format.subnormal(code) {
		return code & f.format.sign()
	}
	return code
}

// out returns the code of a result, flushed and clamped as the opcode requires.
func (f *finisher) out(code uint64) uint64 {
	if f.ftz && f.format.subnormal(code) {
		code &= f.format.sign()
	}
	if !f.sat && !f.relu {
		return code
	}
	switch {
	case f.format.isNaN(code) && f.sat:
		return 0
	case f.format.isNaN(code):
		return f.format.nan
	case code&f.format.sign() != 0:
		return 0
	case f.sat:
		return min(code, f.format.one())
	}
	return code
}

// nan returns the result for a NaN, which .satfinite and similar modifiers may replace.
func (f *finisher) nan(code uint64) uint64 {
	if f.sat {
		return 0
	}
	return code
}

// odd returns the code of a result that is given as a float64 rounded to odd: it rounds, flushes
// and clamps the result.
func (f *finisher) odd(x float64) uint64 {
	if x != x {
		return f.out(f.format.nan)
	}
	if f.ftz && f.tiny(x) {
		return f.out(math.Float64bits(x) >> 63 << (f.format.Bits - 1))
	}
	return f.out(encodeFloat(f.format, x, f.how))
}

// encodeFloat returns the code to which x rounds. It has a faster path than Encode for the most
// frequent formats.
func encodeFloat(f *Format, x float64, how Rounding) uint64 {
	if how != Nearest {
		return f.Encode(x, how)
	}
	if f == F32 {
		return uint64(math.Float32bits(float32(x)))
	}
	if code, ok := f.nearest(x); ok {
		return code
	}
	return f.Encode(x, how)
}

// nearest is Encode with rounding to nearest, for results that do not overflow and signed formats
// of at most 10 fraction bits.
func (f *Format) nearest(x float64) (code uint64, ok bool) {
	if f.mantissa > 10 || f.unsigned {
		return 0, false
	}
	b := math.Float64bits(x)
	e := int(b>>52&2047) - 1023
	m, drop := b&(1<<52-1)|1<<52, 52-f.mantissa
	lowest := 1 - f.bias
	if e < lowest {
		drop += lowest - e
		e = lowest
	}
	if drop > 62 || e > f.bias+1 {
		return 0, false
	}
	code = uint64(e-lowest)<<f.mantissa + m>>drop
	half := uint64(1) << (drop - 1)
	if rest := m & (half<<1 - 1); rest > half || rest == half && code&1 != 0 {
		code++
	}
	if code > f.largest() {
		return 0, false
	}
	return code<<f.unused | b>>63<<(f.Bits-1), true
}

// arithmetic returns add, sub, mul, fma or mad on float64 numbers that were decoded from narrower
// formats.
func arithmetic(kind isa.Kind, how Rounding) func(a, b, c float64) float64 {
	switch kind {
	case isa.KindAdd:
		return func(a, b, _ float64) float64 { return zeroSum(addOdd(a, b), a, b, how) }
	case isa.KindSub:
		return func(a, b, _ float64) float64 { return zeroSum(addOdd(a, -b), a, -b, how) }
	case isa.KindMul:
		return func(a, b, _ float64) float64 { return a * b }
	case isa.KindDiv:
		return func(a, b, _ float64) float64 { return divOdd(a, b) }
	case isa.KindRcp:
		return func(a, _, _ float64) float64 { return divOdd(1, a) }
	case isa.KindSqrt:
		return func(a, _, _ float64) float64 { return sqrtOdd(a) }
	case isa.KindFma, isa.KindMad:
		return func(a, b, c float64) float64 {
			p := float64(a * b)
			return zeroSum(addOdd(p, c), p, c, how)
		}
	}
	return nil
}

// operandCount returns the number of operands of an arithmetic operation.
func operandCount(kind isa.Kind) int {
	switch kind {
	case isa.KindFma, isa.KindMad:
		return 3
	case isa.KindRcp, isa.KindSqrt:
		return 1
	}
	return 2
}

// floatArithmetic returns the operation of add, sub, mul, fma, mad, div, rcp or sqrt on f32, f32x2
// or f64.
func floatArithmetic(s *spec) *Op {
	t := s.typ(0)
	if len(s.types) != 1 || t != isa.F32 && t != isa.F32x2 && t != isa.F64 {
		return nil
	}
	if s.has(isa.ModApprox) || s.legacyApproximate() {
		return nil
	}
	if t == isa.F64 {
		return doubleArithmetic(s)
	}
	if op := fastFloat(s); op != nil {
		return op
	}
	fin := s.finisher(F32)
	f := arithmetic(s.kind, fin.how)
	if f == nil {
		return nil
	}
	lane := func(a, b, c uint64) uint64 {
		return fin.odd(f(single(fin.in(a)), single(fin.in(b)), single(fin.in(c))))
	}
	if t == isa.F32x2 {
		lane = spread(32, 2, lane)
	}
	return withOperands(t, operandCount(s.kind), lane)
}

// legacyApproximate reports whether the opcode is a division or square root without a rounding,
// which PTX before 1.4 approximates.
func (s *spec) legacyApproximate() bool {
	switch s.kind {
	case isa.KindDiv, isa.KindRcp, isa.KindSqrt:
		_, rounded := choose(s, roundings)
		return s.typ(0) == isa.F32 && !rounded
	}
	return false
}

// withOperands returns an operation of one to three operands of one type.
func withOperands(t isa.Type, n int, f func(a, b, c uint64) uint64) *Op {
	switch n {
	case 1:
		return unary(t, t, func(a uint64) uint64 { return f(a, 0, 0) })
	case 2:
		return binary(t, t, t, func(a, b uint64) uint64 { return f(a, b, 0) })
	}
	return ternary(t, t, t, t, f)
}

// single returns the value of an f32 code as float64.
func single(a uint64) float64 { return float64(math.Float32frombits(uint32(a))) }

func double(a uint64) float64 { return math.Float64frombits(a) }
