// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import "github.com/ptxdsl/ptxdsl/isa"

// floatSign returns the operation of abs, neg or copysign on floating-point numbers.
func floatSign(s *spec) *Op {
	t := s.typ(0)
	element, n := t.Elements()
	f := FormatOf(element)
	if len(s.types) != 1 || f == nil || f.Bits < 16 {
		return nil
	}
	if s.kind == isa.KindCopysign { // the sign is that of the first operand
		return binary(t, t, t, func(a, b uint64) uint64 { return a&f.sign() | b&^f.sign() })
	}
	fin := s.finisher(f)
	abs := s.kind == isa.KindAbs
	lane := func(a, _, _ uint64) uint64 {
		a = fin.in(a)
		switch {
		case f.isNaN(a) && f == F64:
			return a | 1<<51 // quiet, with its sign kept
		case f.isNaN(a):
			return f.nan
		case abs:
			return a &^ f.sign()
		}
		return a ^ f.sign()
	}
	if n > 1 {
		lane = spread(element.Bits(), n, lane)
	}
	return withOperands(t, 1, lane)
}

// test returns the operation of testp, which tests a property of a number.
func test(s *spec) *Op {
	f := FormatOf(s.typ(0))
	if f == nil {
		return nil
	}
	holds, ok := choose(s, floatTests)
	return &Op{In: []isa.Type{s.typ(0)}, POut: 1, Lane: func(c *Cell) {
		small := f.subnormal(c.In[0] & (1<<uint(f.Bits) - 1))
		c.POut[0] = ok && holds(f.decode(c.In[0]).class, small)
	}}
}

// floatTests holds the properties that testp tests, as functions of the class of a number and
// whether the number is subnormal.
var floatTests = map[isa.Mod]func(c class, small bool) bool{
	isa.ModFinite:     func(c class, _ bool) bool { return c == zero || c == normal },
	isa.ModInfinite:   func(c class, _ bool) bool { return c == infinite },
	isa.ModNumber:     func(c class, _ bool) bool { return c != notNumber },
	isa.ModNotanumber: func(c class, _ bool) bool { return c == notNumber },
	isa.ModNormal:     func(c class, small bool) bool { return c == zero || c == normal && !small },
	isa.ModSubnormal:  func(_ class, small bool) bool { return small },
}

// floatExtremeOfTwo returns the operation of min or max of two floating-point numbers.
func floatExtremeOfTwo(s *spec) *Op { return floatExtreme(s, 2) }

// floatExtreme returns the operation of min or max of floating-point numbers, with two or three
// operands.
func floatExtreme(s *spec, operands int) *Op {
	t := s.typ(0)
	element, n := t.Elements()
	f := FormatOf(element)
	if len(s.types) != 1 || f == nil || f.Bits < 16 {
		return nil
	}
	fin := s.finisher(f)
	fin.relu, fin.sat = false, false
	pick := extreme(f, s.kind == isa.KindMax, s.has(isa.ModNaN))
	abs, xor := s.has(isa.ModAbs), s.has(isa.ModXorSign)
	lane := func(a, b, c uint64) uint64 {
		a, b, c = fin.in(a), fin.in(b), fin.in(c)
		sign := (a ^ b) & f.sign()
		if abs {
			a, b, c = a&^f.sign(), b&^f.sign(), c&^f.sign()
		}
		d := pick(a, b)
		if operands == 3 {
			d = pick(d, c)
		}
		if xor && !f.isNaN(d) {
			d = d&^f.sign() | sign
		}
		return fin.out(d)
	}
	if n > 1 {
		lane = spread(element.Bits(), n, lane)
	}
	return withOperands(t, operands, lane)
}

// extreme returns the larger or smaller of two codes; -0 is less than +0. If one operand is a
// NaN, the result is the other operand, or NaN if propagate is set.
func extreme(f *Format, largest, propagate bool) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		x, y := f.isNaN(a), f.isNaN(b)
		switch {
		case x && y && f == F64:
			return b | 1<<51
		case x && y, propagate && (x || y):
			return f.nan
		case x:
			return b
		case y:
			return a
		}
		if (f.order(a) < f.order(b)) == largest {
			return b
		}
		return a
	}
}

// order maps codes to integers with the same order as their values; -0 is below +0.
func (f *Format) order(code uint64) int64 {
	magnitude := int64(code &^ f.sign())
	if code&f.sign() != 0 {
		return -magnitude - 1
	}
	return magnitude
}
