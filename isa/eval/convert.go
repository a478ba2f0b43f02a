// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
)

// convert returns the operation of cvt between scalar types. The first type is that of the result.
func convert(s *spec) *Op {
	if len(s.types) != 2 {
		return nil
	}
	d, a := s.types[0], s.types[1]
	to, from := FormatOf(d), FormatOf(a)
	switch {
	case isInt(d) && isInt(a):
		return convertIntegers(s, d, a)
	case isInt(d) && from != nil && from.Bits >= 16:
		return convertToInteger(s, d, a)
	case to != nil && to.Bits >= 16 && isInt(a):
		return convertFromInteger(s, d, a)
	case to != nil && from != nil && to.Bits >= 16 && from.Bits >= 16:
		return convertFloats(s, d, a)
	}
	return nil
}

func convertIntegers(s *spec, d, a isa.Type) *Op {
	if !s.has(isa.ModSat) {
		op := unary(d, a, func(x uint64) uint64 { return uint64(extend(a, x)) })
		op.Warp = fastExtend(d, a)
		return op
	}
	return unary(d, a, func(x uint64) uint64 {
		return saturate(d, isSigned(a), uint64(extend(a, x)))
	})
}

// saturate clamps a 64-bit integer to the range of a type.
func saturate(d isa.Type, negative bool, x uint64) uint64 {
	top := mask(d)
	if isSigned(d) {
		top >>= 1
	}
	if negative && int64(x) < 0 {
		if !isSigned(d) {
			return 0
		}
		return uint64(max(int64(x), -int64(top)-1))
	}
	return min(x, top)
}

// fastExtend returns a loop that converts integers of a warp, or nil for types without a fast
// loop.
func fastExtend(d, a isa.Type) func(f *Frame) {
	m, n := mask(d), mask(a)
	if !isSigned(a) || d.Bits() <= a.Bits() {
		m &= n
		return func(f *Frame) {
			d, a := f.Out[0], f.In[0]
			for l := range d {
				d[l] = a[l] & m
			}
		}
	}
	shift := uint(64 - a.Bits())
	return func(f *Frame) {
		d, a := f.Out[0], f.In[0]
		for l := range d {
			d[l] = uint64(int64(a[l])<<(shift&63)>>(shift&63)) & m
		}
	}
}

// integral returns the rounding to an integer that the opcode specifies, such as .rni.
func (s *spec) integral() (how Rounding, ok bool) {
	if how, ok = choose(s, integralRoundings); !ok {
		return Zero, false
	}
	return how, true
}

var integralRoundings = map[isa.Mod]Rounding{
	isa.ModRNI: Nearest, isa.ModRZI: Zero, isa.ModRMI: Down, isa.ModRPI: Up,
}

// convertToInteger returns the operation of cvt from floating point to integer. Results are
// clamped. A NaN gives zero; from f64 and to 64-bit integers it gives the top bit.
func convertToInteger(s *spec, d, a isa.Type) *Op {
	how, _ := s.integral()
	f := FormatOf(a)
	in := finisher{format: f, ftz: s.has(isa.ModFTZ) && f == F32}
	notANumber := uint64(0)
	if f == F64 || d.Bits() == 64 {
		notANumber = 1 << (d.Bits() - 1)
	}
	return unary(d, a, func(x uint64) uint64 {
		v := f.decode(in.in(x))
		if v.class == notNumber {
			return notANumber
		}
		return v.integer(d, how)
	})
}

// integer rounds a value to an integer type and clamps it.
func (v value) integer(d isa.Type, how Rounding) uint64 {
	top := mask(d)
	if isSigned(d) {
		top >>= 1
	}
	var n uint64
	switch {
	case v.class == zero:
		return 0
	case v.class == infinite || v.exponent > 63:
		n = math.MaxUint64
	case v.exponent == 63:
		n = v.fraction
	default:
		n = v.rounded(63-v.exponent, how)
	}
	switch {
	case !v.negative:
		return min(n, top)
	case !isSigned(d):
		return 0
	}
	return -min(n, top+1)
}

// convertFromInteger returns the operation of cvt from integer to floating point.
func convertFromInteger(s *spec, d, a isa.Type) *Op {
	f := FormatOf(d)
	fin := s.finisher(f)
	fin.ftz = false // an integer never converts to a subnormal number
	op := unary(d, a, func(x uint64) uint64 {
		return fin.out(f.encode(integerValue(a, x), fin.how))
	})
	if a == isa.S32 && d == isa.F32 && fin.how == Nearest && !fin.sat {
		op.Warp = func(fr *Frame) {
			d, a := fr.Out[0], fr.In[0]
			for l := range d {
				d[l] = uint64(math.Float32bits(float32(int32(a[l]))))
			}
		}
	}
	return op
}

func integerValue(t isa.Type, x uint64) value {
	x = uint64(extend(t, x))
	negative := isSigned(t) && int64(x) < 0
	if negative {
		x = -x
	}
	if x == 0 {
		return value{}
	}
	return normalized(negative, 63, x, 0)
}

// convertFloats returns the operation of cvt between scalar floating-point types, including
// rounding to an integer.
func convertFloats(s *spec, d, a isa.Type) *Op {
	to, from := FormatOf(d), FormatOf(a)
	fin := s.finisher(to)
	if to != F32 {
		fin.ftz = false
	}
	in := finisher{format: from, ftz: s.has(isa.ModFTZ) && from == F32 && to != F16}
	limit := clamp{to, fin.how, s.has(isa.ModSatFinite), false}
	integral, whole := s.integral()
	limit.pzo = s.has(isa.ModPzo)
	convertNaN := nanConversion(s, to, from)
	op := unary(d, a, func(x uint64) uint64 {
		x = in.in(x)
		v := from.decode(x)
		if v.class == notNumber {
			return fin.nan(convertNaN(x))
		}
		if whole {
			v = v.whole(integral)
		}
		return fin.out(limit.encode(v))
	})
	if to == BF16 && from == F32 && len(s.mods) == 1 && fin.how == Nearest {
		op.Warp = func(f *Frame) {
			d, a := f.Out[0], f.In[0]
			for l := range d {
				d[l] = uint64(roundBF16(uint32(a[l])))
			}
		}
	}
	if from == F32 && to == F16 && len(s.mods) == 1 {
		op.Warp = func(f *Frame) {
			d, a := f.Out[0], f.In[0]
			for l := range d {
				d[l] = limit.number(single(a[l]))
			}
		}
	}
	if to == F32 && (from == F16 || from == BF16) && !fin.ftz && !fin.sat && !fin.relu && !whole {
		op.Warp = widenHalves(from)
	}
	return op
}

// roundBF16 rounds an f32 to bf16.
func roundBF16(b uint32) uint32 {
	if b&0x7fff_ffff > 0x7f80_0000 {
		return 0x7fff
	}
	return (b + 0x7fff + b>>16&1) >> 16
}

// widenHalves returns a loop over the lanes of a warp that converts f16 or bf16 to f32.
func widenHalves(from *Format) func(f *Frame) {
	if from == BF16 {
		return func(f *Frame) {
			d, a := f.Out[0], f.In[0]
			for l := range d {
				d[l] = a[l] & 0xffff << 16
			}
		}
	}
	return func(f *Frame) {
		d, a := f.Out[0], f.In[0]
		for l := range d {
			x := a[l] & 0xffff
			if x&0x7c00 == 0x7c00 && x&0x3ff != 0 {
				d[l] = singleNaN
				continue
			}
			d[l] = uint64(math.Float32bits(float32(halfFloat(x))))
		}
	}
}

// nanConversion returns a function that converts a NaN. Conversions from and to f64 keep the sign
// and the upper payload and make the NaN quiet. f32 from bf16, and a conversion between equal types
// without a modifier, keep all bits. All other conversions return the canonical NaN.
func nanConversion(s *spec, to, from *Format) func(code uint64) uint64 {
	switch {
	case to == from && (to == F32 || to == F64) && len(s.mods) == 0:
		return func(code uint64) uint64 { return code }
	case from == F64 || to == F64 && !s.has(isa.ModFTZ):
		return func(code uint64) uint64 { return rewidenNaN(to, from, code) | 1<<(to.mantissa-1) }
	case to == F64:
		return func(uint64) uint64 { return rewidenNaN(F64, F32, F32.nan) }
	case to == F32 && from == BF16 && !s.has(isa.ModFTZ):
		return func(code uint64) uint64 { return code << 16 }
	case to == TF32 && s.has(isa.ModRNA):
		return func(code uint64) uint64 {
			code = code >> TF32.unused << TF32.unused
			if s.has(isa.ModSatFinite) {
				code -= 1 << TF32.unused // infinity clamps to the largest number
			}
			return code
		}
	case to == TF32:
		return func(uint64) uint64 { return TF32.nan >> TF32.unused << TF32.unused }
	}
	return func(uint64) uint64 { return to.nan }
}

// rewidenNaN converts a NaN, keeping its sign and the upper bits of its payload.
func rewidenNaN(to, from *Format, code uint64) uint64 {
	payload := code & (1<<from.mantissa - 1) << (52 - from.mantissa) >> (52 - to.mantissa)
	return code&from.sign()>>(from.Bits-1)<<(to.Bits-1) | to.infinity() | payload
}

// whole rounds a value to an integer.
func (v value) whole(how Rounding) value {
	if v.class != normal || v.exponent >= 63 {
		return v
	}
	n := v.rounded(63-v.exponent, how)
	if n == 0 {
		return value{class: zero, negative: v.negative}
	}
	return normalized(v.negative, 63, n, 0)
}

// A clamp encodes the results of a conversion: it rounds them and, with .satfinite, replaces an
// overflow by the largest finite number.
type clamp struct {
	format    *Format
	how       Rounding
	satfinite bool
	pzo       bool // .pzo: a zero result is positive
}

func (c clamp) encode(v value) uint64 {
	f := c.format
	if f.unsigned {
		v.negative = false // the sign is removed
	}
	code := f.encode(v, c.how)
	code = c.limit(v, code)
	if c.pzo && code == f.sign() {
		return 0
	}
	return code
}

// number encodes a float64.
func (c clamp) number(x float64) uint64 {
	if c.how == Nearest && x != 0 {
		if code, ok := c.format.nearest(x); ok && (!c.pzo || code != c.format.sign()) {
			return code
		}
	}
	return c.encode(F64.decode(math.Float64bits(x)))
}

// limit returns code, or its replacement if rounding v overflows.
func (c clamp) limit(v value, code uint64) uint64 {
	f := c.format
	magnitude := code &^ f.sign() >> f.unused
	if c.satfinite && v.class != notNumber && magnitude > f.largest() {
		return code&f.sign() | f.largest()<<f.unused
	}
	return code
}
