// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import "math"

// This file implements instructions that ptxas replaces because an architecture lacks them.

// dotWidened computes mma of fp8 on Hopper and sm_100, where ptxas converts the elements to f16.
// The first of two MMAs starts from zero and uses the first two of every four elements. The
// second MMA uses the other two and adds to the result of the first. The sum is then added to c.
func (m *model) dotWidened(a, b *panel, row, col int, c *Element, sum uint64) uint64 {
	var values [2][32]float64
	var exponents [2][32]int32
	total := uint64(0)
	for half := range 2 {
		n, finite := 0, true
		for i := half * 2; i < a.depth; i++ {
			if i%4/2 != half {
				continue
			}
			values[0][n], exponents[0][n] = F16.split(a.value[row*a.depth+i])
			values[1][n], exponents[1][n] = F16.split(b.value[col*b.depth+i])
			finite = finite && exponents[0][n] != special && exponents[1][n] != special
			n++
		}
		if !finite {
			total = plain(values[0][:n], values[1][:n], c, total)
			continue
		}
		total = m.fused(values[0][:n], values[1][:n], exponents[0][:n], exponents[1][:n], c, total)
	}
	x, _ := c.decode(sum)
	y, _ := c.decode(total)
	return round(c, x+y) // exact in float64
}

// chained computes mma.m8n8k4 of f16 on architectures after Turing, where ptxas replaces the
// instruction by f32 instructions. With f32 accumulators, one chain of products is added to c.
// With f16 accumulators, two pairs of products are added to c one after the other, and the result
// is rounded at the end.
func chained(a, b []float64, d *Element, sum uint64) uint64 {
	x, _ := d.decode(sum)
	product := func(k int, to float64) float64 { return singleSum(float64(a[k]*b[k]), to) }
	if d == F16 {
		x = float64(float32(x + product(1, float64(a[0]*b[0]))))
		return round(d, float64(float32(x+product(3, float64(a[2]*b[2])))))
	}
	y := 0.0
	for k := range 4 {
		y = product(k, y)
	}
	if x += y; x != x {
		return nan32
	}
	return uint64(math.Float32bits(float32(x)))
}

// singleSum rounds a sum to f32 once, through a float64 that was rounded to odd.
func singleSum(x, y float64) float64 {
	s := x + y
	t := s - x
	rest := (x - (s - t)) + (y - t)
	if b := math.Float64bits(s); rest != 0 && rest == rest && b&1 == 0 {
		b++
		if (rest > 0) != (s > 0) {
			b -= 2
		}
		s = math.Float64frombits(b)
	}
	return float64(float32(s))
}
