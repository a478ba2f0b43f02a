// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
)

// fastFloat has loops for add, sub, mul and fma of f32 to nearest.
func fastFloat(s *spec) *Op {
	if s.typ(0) != isa.F32 || s.rounding() != Nearest || s.has("sat") || s.has("ftz") {
		return nil
	}
	switch s.head {
	case "add":
		return two(isa.F32, isa.F32, addSingle, func(d, a, b *Vector) {
			for l := range d {
				d[l] = addSingle(a[l], b[l])
			}
		})
	case "sub":
		return two(isa.F32, isa.F32, subSingle, func(d, a, b *Vector) {
			for l := range d {
				d[l] = subSingle(a[l], b[l])
			}
		})
	case "mul":
		return two(isa.F32, isa.F32, mulSingle, func(d, a, b *Vector) {
			for l := range d {
				d[l] = mulSingle(a[l], b[l])
			}
		})
	case "fma", "mad":
		return three(isa.F32, isa.F32, fmaSingle, func(d, a, b, c *Vector) {
			for l := range d {
				x := float64(math.Float32frombits(uint32(a[l])))
				y := float64(math.Float32frombits(uint32(b[l])))
				z := float64(math.Float32frombits(uint32(c[l])))
				r := float64(x*y) + z
				bits := math.Float64bits(r)
				if bits&(1<<29-1) == 1<<28 || bits>>52&2047 < 1023-126 || r != r {
					d[l] = fmaSingle(a[l], b[l], c[l])
					continue
				}
				d[l] = uint64(math.Float32bits(float32(r)))
			}
		})
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

func fmaSingle(a, b, c uint64) uint64 {
	r := float32(fmaOdd(single(a), single(b), single(c)))
	if r != r {
		return singleNaN
	}
	return uint64(math.Float32bits(r))
}
