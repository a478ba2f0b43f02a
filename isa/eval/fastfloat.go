// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// fastFloat returns the operation of add, sub, mul or fma of f32, rounded to nearest, with a fast
// loop over the lanes.
func fastFloat(s *spec) *Op {
	if s.rounding() != Nearest || s.has(isa.ModSat) {
		return nil
	}
	if s.typ(0) == isa.F32x2 {
		return fastPair(s)
	}
	if s.has(isa.ModFTZ) {
		return flushedFloat(s.kind)
	}
	switch s.kind {
	case isa.KindAdd:
		return two(isa.F32, isa.F32, addSingle, func(d, a, b *Vector) {
			for l := range d {
				d[l] = addSingle(a[l], b[l])
			}
		})
	case isa.KindSub:
		return two(isa.F32, isa.F32, subSingle, func(d, a, b *Vector) {
			for l := range d {
				d[l] = subSingle(a[l], b[l])
			}
		})
	case isa.KindMul:
		return two(isa.F32, isa.F32, mulSingle, func(d, a, b *Vector) {
			for l := range d {
				d[l] = mulSingle(a[l], b[l])
			}
		})
	case isa.KindFma, isa.KindMad:
		return three(isa.F32, isa.F32, fmaSingle, fmaSingles)
	}
	return nil
}

const singleNaN = 0x7fff_ffff

func addSingle(a, b uint64) uint64 {
	r := math.Float32frombits(uint32(a)) + math.Float32frombits(uint32(b))
	if r != r {
		return singleNaN
	}
	return uint64(math.Float32bits(r))
}

func subSingle(a, b uint64) uint64 {
	r := math.Float32frombits(uint32(a)) - math.Float32frombits(uint32(b))
	if r != r {
		return singleNaN
	}
	return uint64(math.Float32bits(r))
}

func mulSingle(a, b uint64) uint64 {
	r := math.Float32frombits(uint32(a)) * math.Float32frombits(uint32(b))
	if r != r {
		return singleNaN
	}
	return uint64(math.Float32bits(r))
}

// fmaSingle adds in float64 and rounds the sum to f32. The result is correct unless the float64 sum
// is half way between two f32 numbers, or subnormal in f32; fmaRare handles these.
func fmaSingle(a, b, c uint64) uint64 {
	p, z := float64(single(a)*single(b)), single(c)
	r := p + z
	if needsMore(math.Float64bits(r)) == 0 {
		return uint64(math.Float32bits(float32(r)))
	}
	return fmaRare(p, z)
}

// fmaSingles is fmaSingle for a warp. It collects the lanes for which needsMore is set without
// branches, which would be mispredicted.
func fmaSingles(d, a, b, c *Vector) {
	var sums Vector
	rare := uint64(0)
	for l := range d {
		r := float64(single(a[l])*single(b[l])) + single(c[l])
		rare |= needsMore(math.Float64bits(r)) << l
		sums[l] = uint64(math.Float32bits(float32(r)))
	}
	for ; rare != 0; rare &= rare - 1 {
		l := bits.TrailingZeros64(rare) & (Lanes - 1)
		sums[l] = fmaRare(float64(single(a[l])*single(b[l])), single(c[l]))
	}
	*d = sums
}

// needsMore returns 0 if rounding the float64 sum x to f32 gives the correctly rounded result: x is
// normal in f32 and not half way between two f32 numbers. Otherwise it returns 1.
func needsMore(x uint64) uint64 {
	tail := x&(1<<29-1) ^ 1<<28
	exponent := int64(x>>52&2047) - (1023 - 126)
	most := int64(2047 - (1023 - 126) - 1)
	return (tail - 1 | uint64(exponent) | uint64(most-exponent)) >> 63
}

// fmaRare rounds a sum for which needsMore is set.
func fmaRare(p, z float64) uint64 {
	f := float32(addOdd(p, z))
	if f != f {
		return singleNaN
	}
	return uint64(math.Float32bits(f))
}

// fastPair returns the operation of add, sub, mul or fma of f32x2 without .ftz, with a fast loop
// over the lanes.
func fastPair(s *spec) *Op {
	if s.has(isa.ModFTZ) {
		return nil
	}
	const t = isa.F32x2
	both := func(f func(a, b uint64) uint64) *Op {
		return binary(t, t, t, func(a, b uint64) uint64 { return f(a, b) | f(a>>32, b>>32)<<32 })
	}
	switch s.kind {
	case isa.KindAdd:
		return both(addSingle)
	case isa.KindSub:
		return both(subSingle)
	case isa.KindMul:
		return both(mulSingle)
	case isa.KindFma, isa.KindMad:
		return three(t, t, fmaPair, func(d, a, b, c *Vector) {
			for l := range d {
				d[l] = fmaPair(a[l], b[l], c[l])
			}
		})
	}
	return nil
}

func fmaPair(a, b, c uint64) uint64 {
	return fmaSingle(a, b, c) | fmaSingle(a>>32, b>>32, c>>32)<<32
}

// flush replaces a subnormal f32 by a zero of the same sign.
func flush(b uint32) uint32 {
	if b&0x7f80_0000 == 0 {
		return b & 0x8000_0000
	}
	return b
}

// flushed decodes an f32, with subnormal numbers flushed to zero.
func flushed(a uint64) float32 { return math.Float32frombits(flush(uint32(a))) }

// flushedCode encodes a result, with subnormal numbers flushed to zero.
func flushedCode(r float32) uint64 {
	if r != r {
		return singleNaN
	}
	return uint64(flush(math.Float32bits(r)))
}

// flushedFloat returns the operation of add, sub, mul or fma of f32 with .ftz, with a fast loop
// over the lanes.
func flushedFloat(kind isa.Kind) *Op {
	switch kind {
	case isa.KindAdd:
		lane := func(a, b uint64) uint64 { return flushedCode(flushed(a) + flushed(b)) }
		return two(isa.F32, isa.F32, lane, func(d, a, b *Vector) {
			for l := range d {
				d[l] = flushedCode(flushed(a[l]) + flushed(b[l]))
			}
		})
	case isa.KindSub:
		lane := func(a, b uint64) uint64 { return flushedCode(flushed(a) - flushed(b)) }
		return two(isa.F32, isa.F32, lane, func(d, a, b *Vector) {
			for l := range d {
				d[l] = flushedCode(flushed(a[l]) - flushed(b[l]))
			}
		})
	case isa.KindMul:
		lane := func(a, b uint64) uint64 { return flushedProduct(flushed(a), flushed(b)) }
		return two(isa.F32, isa.F32, lane, func(d, a, b *Vector) {
			for l := range d {
				d[l] = flushedProduct(flushed(a[l]), flushed(b[l]))
			}
		})
	case isa.KindFma, isa.KindMad:
		return three(isa.F32, isa.F32, fmaFlushed, func(d, a, b, c *Vector) {
			for l := range d {
				d[l] = fmaFlushed(a[l], b[l], c[l])
			}
		})
	}
	return nil
}

// minRoundsToNormal is the smallest number that rounds to 2^-126 with 24 bits and an unbounded
// exponent. Smaller results are flushed.
const minRoundsToNormal = 0x1.ffffffp-127

// flushedProduct returns a product, flushed to zero if it is less than minRoundsToNormal.
func flushedProduct(a, b float32) uint64 {
	r := a * b
	if math.Float32bits(r)&^(1<<31) <= 1<<23 &&
		math.Abs(float64(a)*float64(b)) < minRoundsToNormal {
		r = float32(math.Copysign(0, float64(r)))
	}
	return flushedCode(r)
}

func fmaFlushed(a, b, c uint64) uint64 {
	x, y, z := float64(flushed(a)), float64(flushed(b)), float64(flushed(c))
	r := float64(x*y) + z
	bits := math.Float64bits(r)
	if bits&(1<<29-1) == 1<<28 || bits>>52&2047 < 1023-125 || r != r {
		r = fmaOdd(x, y, z)
		if math.Abs(r) < minRoundsToNormal {
			r = math.Copysign(0, r)
		}
		return flushedCode(float32(r))
	}
	return uint64(math.Float32bits(float32(r)))
}
