// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A Rounding specifies how a result is rounded.
type Rounding uint8

// Rounding modes.
const (
	Nearest     Rounding = iota // ties to even
	Zero                        // toward zero
	Down                        // toward negative infinity
	Up                          // toward positive infinity
	NearestAway                 // ties away from zero
)

// specials specifies which codes of a format are infinities or NaN.
type specials uint8

const (
	ieee    specials = iota // the highest exponent is infinity and NaN
	nanOnly                 // all ones is NaN, and the format has no infinity
	finite                  // every code is a number
)

// A Format is a floating-point format.
type Format struct {
	Name     string
	Bits     int // width of a code, including unused bits
	exponent int
	mantissa int
	bias     int
	unsigned bool
	unused   int // low bits that are always zero
	special  specials
	nan      uint64 // the canonical NaN
}

// Formats of the tensor cores and of arithmetic. The canonical NaN of F32 and of the half formats
// is the one that hardware returns; that of F64 is the default NaN.
var (
	F64   = &Format{"f64", 64, 11, 52, 1023, false, 0, ieee, 0x7ff8_0000_0000_0000}
	F32   = &Format{"f32", 32, 8, 23, 127, false, 0, ieee, 0x7fff_ffff}
	TF32  = &Format{"tf32", 32, 8, 10, 127, false, 13, ieee, 0x7fff_ffff}
	F16   = &Format{"f16", 16, 5, 10, 15, false, 0, ieee, 0x7fff}
	BF16  = &Format{"bf16", 16, 8, 7, 127, false, 0, ieee, 0x7fff}
	E5M2  = &Format{"e5m2", 8, 5, 2, 15, false, 0, ieee, 0x7f}
	E4M3  = &Format{"e4m3", 8, 4, 3, 7, false, 0, nanOnly, 0x7f}
	E3M2  = &Format{"e3m2", 6, 3, 2, 3, false, 0, finite, 0}
	E2M3  = &Format{"e2m3", 6, 2, 3, 1, false, 0, finite, 0}
	E2M1  = &Format{"e2m1", 4, 2, 1, 1, false, 0, finite, 0}
	UE4M3 = &Format{"ue4m3", 8, 4, 3, 7, true, 0, nanOnly, 0x7f}
	UE5M3 = &Format{"ue5m3", 8, 5, 3, 15, true, 0, nanOnly, 0xff}
	UE8M0 = &Format{"ue8m0", 8, 8, 0, 127, true, 0, nanOnly, 0xff}
)

// FormatOf returns the format of a scalar type, nil for a type that is not floating point.
func FormatOf(t isa.Type) *Format {
	switch t {
	case isa.F64:
		return F64
	case isa.F32:
		return F32
	case isa.Tf32:
		return TF32
	case isa.F16:
		return F16
	case isa.Bf16:
		return BF16
	case isa.E5m2:
		return E5M2
	case isa.E4m3:
		return E4M3
	case isa.E3m2:
		return E3M2
	case isa.E2m3:
		return E2M3
	case isa.E2m1:
		return E2M1
	case isa.Ue4m3:
		return UE4M3
	case isa.Ue5m3:
		return UE5M3
	case isa.Ue8m0:
		return UE8M0
	}
	return nil
}

type class uint8

const (
	zero class = iota
	normal
	infinite
	notNumber
)

// A value is an exact number: fraction * 2^(exponent-63), plus something smaller than the lowest
// bit of the fraction if more is set. The top bit of fraction is set in normal values.
type value struct {
	class    class
	negative bool
	more     bool
	exponent int
	fraction uint64
}

// decode returns the exact value of a code.
func (f *Format) decode(code uint64) value {
	code &= 1<<uint(f.Bits) - 1
	if f == UE4M3 {
		code &= 0x7f // the top bit is ignored
	}
	code >>= f.unused
	if f == UE8M0 {
		if code == 0xff {
			return value{class: notNumber}
		}
		return value{class: normal, exponent: int(code) - 127, fraction: 1 << 63}
	}
	return f.decodeParts(code)
}

func (f *Format) decodeParts(code uint64) value {
	top := uint64(1)<<f.exponent - 1
	e, m := code>>f.mantissa&top, code&(1<<f.mantissa-1)
	v := value{class: normal}
	if !f.unsigned {
		v.negative = code>>(f.exponent+f.mantissa)&1 != 0
	}
	switch {
	case f.special == ieee && e == top && m == 0:
		v.class = infinite
		return v
	case f.special == ieee && e == top, f.special == nanOnly && e == top && m == 1<<f.mantissa-1:
		v.class = notNumber
		return v
	case e == 0 && m == 0:
		v.class = zero
		return v
	case e == 0:
		n := bits.LeadingZeros64(m)
		v.fraction = m << n
		v.exponent = 63 - n - f.mantissa + 1 - f.bias
		return v
	}
	v.fraction = (m | 1<<f.mantissa) << (63 - f.mantissa)
	v.exponent = int(e) - f.bias
	return v
}

// largest returns the code of the largest finite number.
func (f *Format) largest() uint64 {
	switch {
	case f == UE8M0:
		return 0xfe
	case f.special == ieee:
		return (1<<f.exponent-1)<<f.mantissa - 1
	case f.special == nanOnly:
		return 1<<(f.exponent+f.mantissa) - 2
	}
	return 1<<(f.exponent+f.mantissa) - 1
}

// sign returns the sign bit of a code, in place.
func (f *Format) sign() uint64 {
	if f.unsigned {
		return 0
	}
	return 1 << (f.Bits - 1)
}

// encode rounds a value to a code. If the format has no infinity, an overflow yields NaN, or the
// largest number if the format has no NaN either. Negative values yield zero in unsigned formats.
func (f *Format) encode(v value, how Rounding) uint64 {
	s := uint64(0)
	if v.negative {
		s = f.sign()
	}
	switch v.class {
	case notNumber:
		if f.special == finite {
			return f.largest()
		}
		return f.nan
	case infinite:
		if v.negative && f.unsigned {
			return 0
		}
		return s | f.infinity()
	case zero:
		return s
	}
	if v.negative && f.unsigned {
		return 0
	}
	if f == UE8M0 {
		return encodeScale(v, how)
	}
	lowest := 1 - f.bias
	drop := 63 - f.mantissa
	if v.exponent < lowest {
		drop += lowest - v.exponent
	}
	code := v.rounded(drop, how)
	if v.exponent >= lowest {
		code += uint64(v.exponent-lowest) << f.mantissa
	}
	if code > f.largest() {
		code = f.overflow(v.negative, how)
	}
	return s | code<<f.unused
}

// infinity returns the code for infinity or its replacement, without a sign.
func (f *Format) infinity() uint64 {
	switch f.special {
	case ieee:
		return (1<<f.exponent - 1) << f.mantissa << f.unused
	case nanOnly:
		return f.nan
	}
	return f.largest()
}

// overflow returns the result of rounding a number that is too large.
func (f *Format) overflow(negative bool, how Rounding) uint64 {
	if how == Zero || how == Down && !negative || how == Up && negative {
		return f.largest()
	}
	return f.infinity() >> f.unused
}

// rounded returns the fraction without its `drop` lowest bits, rounded.
func (v value) rounded(drop int, how Rounding) uint64 {
	var kept uint64
	var half, rest bool
	switch {
	case drop <= 0:
		return v.fraction // formats have fewer bits than a fraction
	case drop < 64:
		kept = v.fraction >> drop
		half = v.fraction>>(drop-1)&1 != 0
		rest = v.fraction&(1<<(drop-1)-1) != 0 || v.more
	case drop == 64:
		half = true
		rest = v.fraction<<1 != 0 || v.more
	default:
		rest = true
	}
	if up(kept, half, rest, v.negative, how) {
		kept++
	}
	return kept
}

// up reports whether a magnitude is rounded up, away from zero.
func up(kept uint64, half, rest, negative bool, how Rounding) bool {
	switch how {
	case Nearest:
		return half && (rest || kept&1 != 0)
	case NearestAway:
		return half
	case Down:
		return negative && (half || rest)
	case Up:
		return !negative && (half || rest)
	}
	return false
}

// encodeScale rounds to a power of two, at least the smallest one of the format.
func encodeScale(v value, how Rounding) uint64 {
	e := v.exponent
	inexact := v.fraction != 1<<63 || v.more
	switch {
	case how == Up && inexact:
		e++
	case how == Nearest && v.fraction > 3<<62, how == NearestAway && v.fraction >= 3<<62:
		e++
	case how == Nearest && v.fraction == 3<<62 && (v.more || e&1 == 0): // the code is even
		e++
	}
	if e > 127 {
		if how == Zero {
			return 0xfe
		}
		return 0xff
	}
	return uint64(max(e+127, 0))
}

// Decode returns the value of a code as float64, which represents it exactly.
func (f *Format) Decode(code uint64) float64 {
	switch f {
	case F32, TF32:
		return float64(math.Float32frombits(uint32(code) >> f.unused << f.unused))
	case F64:
		return math.Float64frombits(code)
	}
	return f.decode(code).float()
}

// Encode returns the code to which x rounds.
func (f *Format) Encode(x float64, how Rounding) uint64 {
	return f.encode(F64.decode(math.Float64bits(x)), how)
}

// float returns v as float64. v must be exactly representable.
func (v value) float() float64 { return math.Float64frombits(F64.encode(v, Nearest)) }

// Smallest returns the code of the smallest positive normal number.
func (f *Format) Smallest() uint64 { return 1 << (f.mantissa + f.unused) }

// Split returns the element type of a packed type and the number of elements.
func Split(t isa.Type) (element isa.Type, n int) { return t.Elements() }
