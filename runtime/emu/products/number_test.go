// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import "math"

// A number is a tensor-core element type, with the widths of its exponent and mantissa, or an
// integer type.
type number struct {
	name               string
	bits               int
	exponent, mantissa int
	integer, signed    bool
	special            int // infinities and NaN: 0 none, 1 IEEE, 2 only NaN (all ones)
}

var (
	f16   = number{"f16", 16, 5, 10, false, true, 1}
	bf16  = number{"bf16", 16, 8, 7, false, true, 1}
	tf32  = number{"tf32", 32, 8, 23, false, true, 1}
	e5m2  = number{"e5m2", 8, 5, 2, false, true, 1}
	e4m3  = number{"e4m3", 8, 4, 3, false, true, 2}
	e2m3  = number{"e2m3", 6, 2, 3, false, true, 0}
	e3m2  = number{"e3m2", 6, 3, 2, false, true, 0}
	e2m1  = number{"e2m1", 4, 2, 1, false, true, 0}
	ue4m3 = number{"ue4m3", 8, 4, 3, false, false, 2}
	ue8m0 = number{"ue8m0", 8, 8, 0, false, false, 2}
	u8    = number{"u8", 8, 0, 8, true, false, 0}
	s8    = number{"s8", 8, 0, 8, true, true, 0}
	ti16  = number{"s1z4m11", 16, 0, 11, true, true, 0} // a sign and a magnitude
)

// worth returns the value of a code.
func (n number) worth(code uint64) float64 {
	code &= 1<<n.bits - 1
	switch {
	case n.name == "s1z4m11":
		return float64(code%2048) * float64(1-2*int(code>>15))
	case n.integer && n.signed:
		return float64(int64(code) << (64 - n.bits) >> (64 - n.bits))
	case n.integer:
		return float64(code)
	case n.name == "ue8m0":
		if code == 255 {
			return math.NaN()
		}
		return power(int(code) - 127)
	case n.name == "tf32":
		code &^= 1<<13 - 1 // only ten bits of the mantissa are used
	}
	sign := 1.0
	if n.signed && code>>(n.bits-1) == 1 {
		sign = -1
	}
	e, m := int(code>>n.mantissa)&(1<<n.exponent-1), code&(1<<n.mantissa-1)
	top := e == 1<<n.exponent-1
	switch {
	case top && n.special == 1 && m == 0:
		return sign * math.Inf(1)
	case top && n.special == 1, top && n.special == 2 && m == 1<<n.mantissa-1:
		return math.NaN()
	}
	bias := 1<<(n.exponent-1) - 1
	if e == 0 {
		return sign * float64(m) * power(1-bias-n.mantissa)
	}
	return sign * float64(m|1<<n.mantissa) * power(e-bias-n.mantissa)
}

// power returns 2 to the power of an exponent in the normal range of float64. It is several times
// faster than math.Ldexp.
func power(exponent int) float64 { return math.Float64frombits(uint64(exponent+1023) << 52) }

// toBrain rounds to the nearest BF16, ties to even.
func toBrain(x float64) uint64 {
	b := math.Float32bits(float32(x))
	return uint64((b + 0x7fff + b>>16&1) >> 16)
}

// toHalf rounds to the nearest F16, ties to even.
func toHalf(x float64) uint64 {
	if math.Abs(x) >= 65520 {
		return uint64(math.Float64bits(x)>>63<<15 | 0x7c00)
	}
	return nearest(f16, x)
}

// nearest returns the code of the value of a small type that is nearest to x, ties to even. It
// saturates.
func nearest(n number, x float64) uint64 {
	sign := uint64(0)
	if math.Signbit(x) {
		sign, x = 1<<(n.bits-1), -x
	}
	// Without the sign, codes are in the same order as their values.
	low, high := uint64(0), uint64(1)<<(n.bits-1)-1
	for w := n.worth(high); math.IsNaN(w) || math.IsInf(w, 0); w = n.worth(high) {
		high--
	}
	for high-low > 1 {
		if mid := (low + high) / 2; n.worth(mid) <= x {
			low = mid
		} else {
			high = mid
		}
	}
	a, b := x-n.worth(low), n.worth(high)-x
	if b < a || a == b && low&1 == 1 {
		low = high
	}
	return sign | low
}

// fromFloat returns the F32 code of x.
func fromFloat(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }
