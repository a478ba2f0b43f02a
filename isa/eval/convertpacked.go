// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
)

// convertPacked returns the operation of cvt to or from packed floating-point formats. Operand a
// becomes the upper element of the result.
func convertPacked(s *spec) *Op {
	if len(s.types) < 2 {
		return nil
	}
	d, a := s.types[0], s.types[1]
	if s.scaleFactors() != 0 || d == isa.S2f6x2 || a == isa.S2f6x2 {
		return convertScaled(s, d, a)
	}
	element, n := d.Elements()
	if FormatOf(element) == nil || n == 1 {
		return nil
	}
	if s.has(isa.ModRS) {
		return convertStochastic(s, d)
	}
	return convertScaled(s, d, a)
}

// scaleFactors returns the number of scale factors of a conversion.
func (s *spec) scaleFactors() int {
	switch {
	case s.has(isa.ModScaledN1UE8M0):
		return 1
	case s.has(isa.ModScaledN2UE8M0):
		return 2
	}
	return 0
}

// elementBits returns the width of an element in a packed type, padding included.
func elementBits(t isa.Type) int {
	_, n := t.Elements()
	if t == isa.S2f6x2 {
		n = 2
	}
	return t.Bits() / n
}

// codec encodes and decodes one element of a packed type.
type codec struct {
	format *Format // nil for s2f6
	limit  clamp
	relu   bool
}

func codecOf(s *spec, t isa.Type) codec {
	element, _ := t.Elements()
	f := FormatOf(element)
	return codec{f, clamp{f, s.rounding(), s.has(isa.ModSatFinite), s.has(isa.ModPzo)},
		s.has(isa.ModReLU)}
}

func (c codec) decode(code uint64) value {
	if c.format != nil {
		return c.format.decode(code)
	}
	n := signed(code, 8)
	v := integerValue(isa.S64, uint64(n))
	v.exponent -= 6
	return v
}

func (c codec) encode(v value) uint64 {
	if c.relu && v.negative && v.class != notNumber {
		return 0
	}
	if c.format != nil {
		return c.limit.encode(v)
	}
	if v.class == notNumber {
		return 127
	}
	v.exponent += 6
	return v.integer(isa.S8, c.limit.how) & 255
}

// scaled multiplies a value by a power of two, or divides it.
func scaled(v value, scale uint64, divide bool) value {
	if scale&255 == 255 {
		return nan
	}
	if v.class == normal {
		n := int(scale&255) - 127
		if divide {
			n = -n
		}
		v.exponent += n
	}
	return v
}

// convertScaled returns the operation of cvt to or from a packed type, with or without a scale
// factor.
func convertScaled(s *spec, d, a isa.Type) *Op {
	to, from := codecOf(s, d), codecOf(s, a)
	if to.format == nil && d != isa.S2f6x2 || from.format == nil && a != isa.S2f6x2 {
		return nil
	}
	factors := s.scaleFactors()
	in := []isa.Type{a}
	one := a == isa.F32 // two operands of one element each
	if one {
		in = append(in, a)
	}
	at := len(in)
	switch factors {
	case 1:
		in = append(in, isa.Ue8m0)
	case 2:
		in = append(in, isa.Ue8m0x2)
	}
	if op := plainPair(s, d, a, to, from); op != nil {
		return op
	}
	up := d == isa.F16x2 || d == isa.Bf16x2
	flush := factors == 1
	wide, narrow := elementBits(d), elementBits(a)
	return many(d, in, func(x *[8]uint64) (r uint64) {
		for i := range 2 {
			code := x[0] >> (i * narrow)
			if one {
				code = x[1-i]
			}
			code &= 1<<narrow - 1
			if flush && from.format.subnormal(code) {
				code &= from.format.sign()
			}
			v := from.decode(code)
			if factors != 0 {
				scale := x[at]
				if !flush {
					scale >>= 8 * i
				}
				v = scaled(v, scale, !up)
			}
			r |= to.encode(v) << (i * wide)
		}
		return r
	})
}

// plainPair converts two elements without a scale factor. It returns nil for s2f6 and for
// conversions with a scale factor.
func plainPair(s *spec, d, a isa.Type, to, from codec) *Op {
	if to.format == nil || from.format == nil || s.scaleFactors() != 0 {
		return nil
	}
	wide, narrow := elementBits(d), elementBits(a)
	read := decoder(from.format)
	one := func(x float64) uint64 {
		if to.relu && math.Signbit(x) && x == x {
			return 0
		}
		return to.limit.number(x)
	}
	if a != isa.F32 {
		m := uint64(1)<<narrow - 1
		return unary(d, a, func(x uint64) uint64 {
			return one(read(x&m)) | one(read(x>>narrow&m))<<wide
		})
	}
	op := binary(d, a, a, func(x, y uint64) uint64 { return one(single(y)) | one(single(x))<<wide })
	if d == isa.Bf16x2 && len(s.mods) == 1 && to.limit.how == Nearest {
		op.Warp = func(f *Frame) {
			d, a, b := f.Out[0], f.In[0], f.In[1]
			for l := range d {
				d[l] = uint64(roundBF16(uint32(a[l]))<<16 | roundBF16(uint32(b[l])))
			}
		}
	}
	return op
}

// convertStochastic returns the operation of cvt.rs. Random bits are added to the bits that
// rounding discards; a carry rounds away from zero.
func convertStochastic(s *spec, d isa.Type) *Op {
	element, n := d.Elements()
	c := codecOf(s, d)
	c.limit.how = Nearest // the value is exact unless it overflows
	in := make([]isa.Type, n, n+1)
	for i := range in {
		in[i] = isa.F32
	}
	in = append(in, isa.B32)
	wide := elementBits(d)
	return many(d, in, func(x *[8]uint64) (r uint64) {
		for i := range n {
			random, count := randomBits(element, n, i, x[n])
			v := F32.decode(x[n-1-i])
			code := c.encode(c.format.dithered(v, random, count))
			r |= code << (i * wide)
		}
		return r
	})
}

// randomBits returns the random bits for element i, counted from the lowest, and their number.
func randomBits(t isa.Type, n, i int, bits uint64) (random uint64, count int) {
	// elements of the upper half use the upper random bits
	half := bits >> (16 * (i * 2 / n)) & 0xffff
	switch t {
	case isa.F16:
		return half & 0x1fff, 13
	case isa.E2m1: // element i of f, e, b, a uses bytes 0, 2, 1, 3
		at := [4]int{0, 2, 1, 3}[i]
		return bits >> (8 * at) & 255, 8
	}
	return half, 16
}

// dithered rounds a value to a format using random bits. The result is exact in the format, or
// overflows it.
func (f *Format) dithered(v value, random uint64, count int) value {
	if v.class != normal {
		return v
	}
	drop := 63 - f.mantissa
	if lowest := 1 - f.bias; v.exponent < lowest {
		drop += lowest - v.exponent
	}
	var kept, lost uint64 // lost is aligned to the top bit
	switch {
	case drop < 64:
		kept, lost = v.fraction>>drop, v.fraction<<(64-drop)
	case drop < 128:
		lost = v.fraction >> (drop - 64)
	}
	if lost>>(64-count)+random >= 1<<count {
		kept++
	}
	if kept == 0 {
		return value{class: zero, negative: v.negative}
	}
	return normalized(v.negative, v.exponent+drop, kept, 0)
}

// pack returns the operation of cvt.pack: two saturated integers, with the low bits of a third
// operand above them.
func pack(s *spec) *Op {
	if len(s.types) < 2 || len(s.types) > 3 || s.types[0].Bits() > 16 {
		return nil
	}
	t := s.types[0]
	n := t.Bits()
	low, high := int64(0), int64(1)<<n-1
	if t == isa.S16 || t == isa.S8 || t == isa.S4 || t == isa.S2 {
		low, high = -1<<(n-1), 1<<(n-1)-1
	}
	clamped := func(x uint64) uint64 {
		return uint64(min(max(signed(x, 32), low), high)) & (1<<n - 1)
	}
	join := func(a, b, c uint64) uint64 { return clamped(b) | clamped(a)<<n | c<<(2*n) }
	if len(s.types) == 2 {
		return binary(isa.U32, isa.S32, isa.S32, func(a, b uint64) uint64 { return join(a, b, 0) })
	}
	return ternary(isa.U32, isa.S32, isa.S32, isa.B32, join)
}
