// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Loops for the most frequent operations. They are written out because the compiler does not inline
// calls of function values.

const word = 1<<32 - 1

// two returns an operation with two operands: lane computes one lane, and warp all lanes in a
// separate loop.
func two(t, out isa.Type, lane func(a, b uint64) uint64, warp func(d, a, b *Vector)) *Op {
	op := binary(out, t, t, lane)
	op.Warp, op.Two = func(f *Frame) { warp(f.Out[0], f.In[0], f.In[1]) }, warp
	return op
}

// three returns an operation with three operands: lane computes one lane, and warp all lanes in a
// separate loop.
func three(t, out isa.Type, lane func(a, b, c uint64) uint64, warp func(d, a, b, c *Vector)) *Op {
	op := ternary(out, t, t, out, lane)
	op.Warp, op.Three = func(f *Frame) { warp(f.Out[0], f.In[0], f.In[1], f.In[2]) }, warp
	return op
}

func fastSum(t isa.Type, minus bool) *Op {
	switch {
	case t.Bits() == 32 && isInt(t) && !minus:
		return two(t, t, func(a, b uint64) uint64 { return a + b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = uint64(uint32(a[l]) + uint32(b[l]))
			}
		})
	case t.Bits() == 64 && isInt(t) && !minus:
		return two(t, t, func(a, b uint64) uint64 { return a + b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = a[l] + b[l]
			}
		})
	case t.Bits() == 32 && isInt(t):
		return two(t, t, func(a, b uint64) uint64 { return a - b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = uint64(uint32(a[l]) - uint32(b[l]))
			}
		})
	case t.Bits() == 64 && isInt(t):
		return two(t, t, func(a, b uint64) uint64 { return a - b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = a[l] - b[l]
			}
		})
	}
	return nil
}

func fastProduct(t isa.Type, high, add bool) *Op {
	switch {
	case high && t == isa.U64 && !add:
		return two(t, t, func(a, b uint64) uint64 { return part(t, true, a, b) },
			func(d, a, b *Vector) {
				for l := range d {
					d[l], _ = bits.Mul64(a[l], b[l])
				}
			})
	case high && t == isa.U32 && !add:
		return two(t, t, func(a, b uint64) uint64 { return part(t, true, a, b) },
			func(d, a, b *Vector) {
				for l := range d {
					d[l] = a[l] & word * (b[l] & word) >> 32
				}
			})
	case high:
		return nil
	case t.Bits() == 32 && add:
		lane := func(a, b, c uint64) uint64 { return a*b + c }
		return three(t, t, lane, func(d, a, b, c *Vector) {
			for l := range d {
				d[l] = uint64(uint32(a[l])*uint32(b[l]) + uint32(c[l]))
			}
		})
	case t.Bits() == 32:
		return two(t, t, func(a, b uint64) uint64 { return a * b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = uint64(uint32(a[l]) * uint32(b[l]))
			}
		})
	case t.Bits() == 64 && add:
		lane := func(a, b, c uint64) uint64 { return a*b + c }
		return three(t, t, lane, func(d, a, b, c *Vector) {
			for l := range d {
				d[l] = a[l]*b[l] + c[l]
			}
		})
	case t.Bits() == 64:
		return two(t, t, func(a, b uint64) uint64 { return a * b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = a[l] * b[l]
			}
		})
	}
	return nil
}

func fastWide(t isa.Type, add bool) *Op {
	switch {
	case t == isa.U32 && add:
		lane := func(a, b, c uint64) uint64 { return a&word*(b&word) + c }
		return three(t, isa.U64, lane, func(d, a, b, c *Vector) {
			for l := range d {
				d[l] = a[l]&word*(b[l]&word) + c[l]
			}
		})
	case t == isa.S32 && add:
		lane := func(a, b, c uint64) uint64 { return uint64(signed(a, 32)*signed(b, 32)) + c }
		return three(t, isa.S64, lane, func(d, a, b, c *Vector) {
			for l := range d {
				d[l] = uint64(int64(int32(a[l]))*int64(int32(b[l]))) + c[l]
			}
		})
	case t == isa.U32:
		lane := func(a, b uint64) uint64 { return a & word * (b & word) }
		return two(t, isa.U64, lane, func(d, a, b *Vector) {
			for l := range d {
				d[l] = a[l] & word * (b[l] & word)
			}
		})
	case t == isa.S32:
		lane := func(a, b uint64) uint64 { return uint64(signed(a, 32) * signed(b, 32)) }
		return two(t, isa.S64, lane, func(d, a, b *Vector) {
			for l := range d {
				d[l] = uint64(int64(int32(a[l])) * int64(int32(b[l])))
			}
		})
	}
	return nil
}

func fastExtreme(t isa.Type, largest bool) *Op {
	switch {
	case t == isa.S32 && largest:
		return two(t, t, extremeOf(t, true), func(d, a, b *Vector) {
			for l := range d {
				d[l] = uint64(uint32(max(int32(a[l]), int32(b[l]))))
			}
		})
	case t == isa.S32:
		return two(t, t, extremeOf(t, false), func(d, a, b *Vector) {
			for l := range d {
				d[l] = uint64(uint32(min(int32(a[l]), int32(b[l]))))
			}
		})
	case t == isa.U32 && largest:
		return two(t, t, extremeOf(t, true), func(d, a, b *Vector) {
			for l := range d {
				d[l] = uint64(max(uint32(a[l]), uint32(b[l])))
			}
		})
	case t == isa.U32:
		return two(t, t, extremeOf(t, false), func(d, a, b *Vector) {
			for l := range d {
				d[l] = uint64(min(uint32(a[l]), uint32(b[l])))
			}
		})
	}
	return nil
}

func extremeOf(t isa.Type, largest bool) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		if less(t, a, b) == largest {
			return b
		}
		return a
	}
}

func fastLogic(t isa.Type, kind isa.Kind) *Op {
	m := mask(t)
	switch kind {
	case isa.KindAnd:
		return two(t, t, func(a, b uint64) uint64 { return a & b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = a[l] & b[l] & m
			}
		})
	case isa.KindOr:
		return two(t, t, func(a, b uint64) uint64 { return a | b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = (a[l] | b[l]) & m
			}
		})
	case isa.KindXor:
		return two(t, t, func(a, b uint64) uint64 { return a ^ b }, func(d, a, b *Vector) {
			for l := range d {
				d[l] = (a[l] ^ b[l]) & m
			}
		})
	}
	return nil
}

func fastShift(t isa.Type, left bool) *Op {
	m := mask(t)
	count := func(lane func(a, n uint64) uint64, warp func(d, a, n *Vector)) *Op {
		op := binary(t, t, isa.U32, lane)
		op.Warp, op.Two = func(f *Frame) { warp(f.Out[0], f.In[0], f.In[1]) }, warp
		return op
	}
	switch {
	case left:
		lane := func(a, n uint64) uint64 { return a << n }
		return count(lane, func(d, a, n *Vector) {
			for l := range d {
				d[l] = a[l] << uint32(n[l]) & m
			}
		})
	case t == isa.S32:
		lane := func(a, n uint64) uint64 { return uint64(signed(a, 32) >> n) }
		return count(lane, func(d, a, n *Vector) {
			for l := range d {
				d[l] = uint64(uint32(int32(a[l]) >> uint32(n[l])))
			}
		})
	case !isSigned(t):
		lane := func(a, n uint64) uint64 { return a >> n }
		return count(lane, func(d, a, n *Vector) {
			for l := range d {
				d[l] = a[l] & m >> uint32(n[l])
			}
		})
	}
	return nil
}

// lop3Warp computes lop3 for a warp. For each combination of a and b the result is c, its
// complement or a constant, that is (c & x) ^ y.
func lop3Warp(f *Frame) {
	d, a, b, c, table := f.Out[0], f.In[0], f.In[1], f.In[2], f.In[3][0]
	var x, y [4]uint64
	for i := range 4 {
		y[i] = -(table >> (2 * i) & 1)
		x[i] = y[i] ^ -(table >> (2*i + 1) & 1)
	}
	x0, x1, x2, x3, y0, y1, y2, y3 := x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3]
	for l := range d {
		p, q, r := a[l], b[l], c[l]
		low, high := r&x0^y0, r&x2^y2
		low ^= (low ^ r&x1 ^ y1) & q
		high ^= (high ^ r&x3 ^ y3) & q
		d[l] = (low ^ (low^high)&p) & word
	}
}
