// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"math"
	"strings"
)

// F16 is an IEEE half-precision number.
type F16 uint16

// BF16 is a bfloat16: the upper half of a float32.
type BF16 uint16

// ToBF16 returns x rounded to nearest, ties to even.
func ToBF16(x float32) BF16 {
	bits := math.Float32bits(x)
	if x != x {
		return BF16(bits>>16 | 0x40)
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 returns x as a float32, which is exact.
func (x BF16) Float32() float32 { return math.Float32frombits(uint32(x) << 16) }

// ToF16 returns x rounded to nearest, ties to even. Numbers that are too large become infinite.
func ToF16(x float32) F16 {
	bits := math.Float32bits(x)
	sign := F16(bits >> 16 & 0x8000)
	size := bits & 0x7fff_ffff
	switch {
	case size > 0x7f80_0000:
		return sign | 0x7e00 | F16(size>>13&0x1ff)
	case size >= 0x477f_f000: // 65520, halfway above the largest value
		return sign | 0x7c00
	case size < 0x3880_0000: // subnormal: a multiple of 2^-24
		return sign | F16(math.RoundToEven(float64(math.Float32frombits(size))*(1<<24)))
	}
	size += 0xfff + size>>13&1
	return sign | F16((size-0x3800_0000)>>13)
}

// Float32 returns x as a float32, which is exact.
func (x F16) Float32() float32 {
	sign := uint32(x&0x8000) << 16
	exponent, fraction := uint32(x>>10&31), uint32(x&0x3ff)
	switch exponent {
	case 0:
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f80_0000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// typeOf returns the PTX name of a Go element type.
func typeOf(word string) string {
	switch word {
	case "runtime.F16":
		return "f16"
	case "runtime.BF16":
		return "bf16"
	case "float32":
		return "f32"
	case "float64":
		return "f64"
	}
	return strings.NewReplacer("uint", "u", "int", "s").Replace(word)
}
