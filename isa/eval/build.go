// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import "github.com/ptxdsl/ptxdsl/isa"

// mask returns a mask of the low bits of a type. For a 64-bit type, all bits are set.
func mask(t isa.Type) uint64 { return 1<<uint(t.Bits()) - 1 } // all ones for 64 bits

// unary returns an operation with one operand. The result of f is truncated to the width of out.
func unary(out, in isa.Type, f func(a uint64) uint64) *Op {
	om, im := mask(out), mask(in)
	return &Op{
		In: []isa.Type{in}, Out: []isa.Type{out},
		Lane:   func(c *Cell) { c.Out[0] = f(c.In[0]&im) & om },
		Scalar: func(a, _, _, _ uint64) uint64 { return f(a&im) & om },
		Warp: func(fr *Frame) {
			d, a := fr.Out[0], fr.In[0]
			for l := range d {
				d[l] = f(a[l]&im) & om
			}
		},
	}
}

// binary returns an operation with two operands.
func binary(out, in, in2 isa.Type, f func(a, b uint64) uint64) *Op {
	om, im, jm := mask(out), mask(in), mask(in2)
	return &Op{
		In: []isa.Type{in, in2}, Out: []isa.Type{out},
		Lane:   func(c *Cell) { c.Out[0] = f(c.In[0]&im, c.In[1]&jm) & om },
		Scalar: func(a, b, _, _ uint64) uint64 { return f(a&im, b&jm) & om },
		Warp: func(fr *Frame) {
			d, a, b := fr.Out[0], fr.In[0], fr.In[1]
			for l := range d {
				d[l] = f(a[l]&im, b[l]&jm) & om
			}
		},
	}
}

// ternary returns an operation with three operands.
func ternary(out, in, in2, in3 isa.Type, f func(a, b, c uint64) uint64) *Op {
	om, im, jm, km := mask(out), mask(in), mask(in2), mask(in3)
	return &Op{
		In: []isa.Type{in, in2, in3}, Out: []isa.Type{out},
		Lane:   func(c *Cell) { c.Out[0] = f(c.In[0]&im, c.In[1]&jm, c.In[2]&km) & om },
		Scalar: func(a, b, c, _ uint64) uint64 { return f(a&im, b&jm, c&km) & om },
		Warp: func(fr *Frame) {
			d, a, b, e := fr.Out[0], fr.In[0], fr.In[1], fr.In[2]
			for l := range d {
				d[l] = f(a[l]&im, b[l]&jm, e[l]&km) & om
			}
		},
	}
}

// many returns an operation with one result and operands of the given types, at most eight.
func many(out isa.Type, in []isa.Type, f func(x *[8]uint64) uint64) *Op {
	om := mask(out)
	var im [8]uint64
	for i, t := range in {
		im[i] = mask(t)
	}
	return &Op{
		In: in, Out: []isa.Type{out},
		Lane: func(c *Cell) {
			x := c.In
			for i := range x {
				x[i] &= im[i]
			}
			c.Out[0] = f(&x) & om
		},
		Warp: func(fr *Frame) {
			x := &fr.cell.In
			for l := range Lanes {
				for i := range in {
					x[i] = fr.In[i][l] & im[i]
				}
				fr.Out[0][l] = f(x) & om
			}
		},
	}
}

// signed returns the lowest bits of a, sign-extended to 64 bits.
func signed(a uint64, bits int) int64 { return int64(a) << (64 - bits) >> (64 - bits) }

// isSigned reports whether t is a signed integer type.
func isSigned(t isa.Type) bool { return t.Class() == isa.Signed }

// isInt reports whether t is a signed or unsigned integer type.
func isInt(t isa.Type) bool { return t.Class() == isa.Signed || t.Class() == isa.Unsigned }

// spread returns a function that applies f to each of the n elements of packed values.
func spread(bits, n int, f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	m := uint64(1)<<bits - 1
	return func(a, b, c uint64) (d uint64) {
		for i := 0; i < n*bits; i += bits {
			d |= f(a>>i&m, b>>i&m, c>>i&m) & m << i
		}
		return d
	}
}
