// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
)

// halfFloat returns the value of an f16 code as float64.
func halfFloat(a uint64) float64 {
	e, m := a>>10&31, a&1023
	if e == 0 || e == 31 {
		return F16.Decode(a)
	}
	return math.Float64frombits(a>>15&1<<63 | (e+1023-15)<<52 | m<<42)
}

// brainFloat returns the value of a bf16 code as float64.
func brainFloat(a uint64) float64 { return single(a << 16) }

// decoder returns the fastest function that decodes codes of a format.
func decoder(f *Format) func(a uint64) float64 {
	switch f {
	case F16:
		return halfFloat
	case BF16:
		return brainFloat
	case F32:
		return single
	}
	return f.Decode
}

// halfArithmetic returns the operation of add, sub, mul or fma on f16, bf16 or pairs of them.
func halfArithmetic(s *spec) *Op {
	t := s.typ(0)
	element, n := t.Elements()
	f := FormatOf(element)
	if len(s.types) != 1 || f != F16 && f != BF16 {
		return nil
	}
	fin := s.finisher(f)
	operation := arithmetic(s.kind, fin.how)
	from, oob := decoder(f), s.has(isa.ModOOB)
	count := operandCount(s.kind)
	lane := func(a, b, c uint64) uint64 {
		if oob && (a&0x7fff == outOfBounds || b&0x7fff == outOfBounds) {
			return 0
		}
		return fin.odd(operation(from(fin.in(a)), from(fin.in(b)), from(fin.in(c))))
	}
	if n > 1 {
		lane = spread(element.Bits(), n, lane)
	}
	return withOperands(t, count, lane)
}

// outOfBounds is the NaN, of either sign, that makes the product and result of fma.oob zero. On
// an H100, no other NaN has this effect, and in the addend it is an ordinary NaN.
const outOfBounds = 0x7ff7

// mixedArithmetic returns the operation of add, sub, mul or fma with two scalar or packed types.
// The first type is the type of the result. The second type is that of the first operand of an
// addition. The last type is that of the addend of an fma.
func mixedArithmetic(s *spec) *Op {
	if len(s.types) < 2 {
		return nil
	}
	in := s.mixedOperands()
	if in == nil {
		return nil
	}
	out := s.types[0]
	element, n := out.Elements()
	f := FormatOf(element)
	fin := s.finisher(f)
	var from [3]func(uint64) float64
	var wide [3]int
	var inputs [3]finisher
	for i, t := range in {
		e, m := t.Elements()
		g := FormatOf(e)
		if g == nil || m != n {
			return nil
		}
		from[i], wide[i] = decoder(g), t.Bits()/m
		inputs[i] = finisher{format: g, ftz: fin.ftz && g == F32}
	}
	operation := arithmetic(s.kind, fin.how)
	return many(out, in, func(x *[8]uint64) (d uint64) {
		for i := range n {
			var y [3]float64
			for j := range in {
				code := x[j] >> (i * wide[j]) & (1<<wide[j] - 1)
				y[j] = from[j](inputs[j].in(code))
			}
			d |= fin.odd(operation(y[0], y[1], y[2])) << (i * element.Bits())
		}
		return d
	})
}

// mixedOperands returns the types of the operands, or nil if the operation does not mix two types.
func (s *spec) mixedOperands() []isa.Type {
	for _, t := range s.types {
		e, _ := t.Elements()
		if f := FormatOf(e); f == nil || f.Bits < 16 {
			return nil
		}
	}
	t := s.types
	switch {
	case len(t) == 3 && operandCount(s.kind) == 2: // d, a, b
		return t[1:]
	case len(t) == 2 && s.kind == isa.KindFma: // d, a and b; the addend has the type of the result
		return []isa.Type{t[1], t[1], t[0]}
	case len(t) == 2 && operandCount(s.kind) == 2:
		return []isa.Type{t[1], t[0]}
	case len(t) == 4 && s.kind == isa.KindFma:
		return t[1:]
	}
	return nil
}

// microArithmetic returns the operation of add, sub, mul or fma on four fp8 numbers with formats of
// up to eight bits. Exact results are rounded once. An overflow gives the largest number with
// .satfinite, otherwise infinity or NaN.
func microArithmetic(s *spec) *Op {
	out := s.typ(0)
	if len(s.types) < 2 || out != isa.E4m3x4 && out != isa.E5m2x4 {
		return nil
	}
	in := append([]isa.Type{}, s.types[1:]...)
	switch {
	case s.kind == isa.KindAdd || s.kind == isa.KindSub:
		in = append(in[:1], out)
	case s.kind == isa.KindFma:
		in = append(in[:min(2, len(in))], out)
	}
	if len(in) != operandCount(s.kind) {
		return nil
	}
	element, _ := out.Elements()
	f := FormatOf(element)
	var formats [3]*Format
	var wide [3]int
	for i, t := range in {
		e, n := t.Elements()
		if formats[i] = FormatOf(e); formats[i] == nil || n != 4 {
			return nil
		}
		wide[i] = t.Bits() / 4
	}
	operation := arithmetic(s.kind, Nearest)
	limit := clamp{f, Nearest, s.has(isa.ModSatFinite), false}
	return many(out, in, func(x *[8]uint64) (d uint64) {
		for i := range 4 {
			var y [3]float64
			for j := range in {
				y[j] = formats[j].Decode(x[j] >> (i * wide[j]) & (1<<wide[j] - 1))
			}
			v := F64.decode(math.Float64bits(operation(y[0], y[1], y[2])))
			d |= limit.encode(v) << (8 * i)
		}
		return d
	})
}
