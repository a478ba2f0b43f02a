// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// limits returns the range of an integer type of at most 32 bits.
func limits(t isa.Type) (low, high int64) {
	if isSigned(t) {
		return -1 << (t.Bits() - 1), 1<<(t.Bits()-1) - 1
	}
	return 0, 1<<t.Bits() - 1
}

// extend returns the value of an integer type of at most 32 bits, or the bits of a 64-bit one.
func extend(t isa.Type, a uint64) int64 {
	if isSigned(t) {
		return signed(a, t.Bits())
	}
	return int64(a & mask(t))
}

// elementwise returns an operation on integers or packed integers from a function on elements.
func elementwise(t isa.Type, operands int, f func(t isa.Type, a, b uint64) uint64) *Op {
	element, n := t.Elements()
	if !isInt(element) {
		return nil
	}
	g := func(a, b, _ uint64) uint64 { return f(element, a, b) }
	if n > 1 {
		g = spread(element.Bits(), n, g)
	}
	if operands == 1 {
		return unary(t, t, func(a uint64) uint64 { return g(a, 0, 0) })
	}
	return binary(t, t, t, func(a, b uint64) uint64 { return g(a, b, 0) })
}

// intSum returns the operation of add or sub on integers.
func intSum(s *spec) *Op {
	t := s.typ(0)
	element, _ := t.Elements()
	if len(s.types) != 1 || !isInt(element) {
		return nil
	}
	minus := s.kind == isa.KindSub
	if s.has(isa.ModCC) {
		return carrySum(t, minus, false, true, false)
	}
	if s.has(isa.ModSat) {
		low, high := limits(element)
		return elementwise(t, 2, func(t isa.Type, a, b uint64) uint64 {
			x, y := extend(t, a), extend(t, b)
			if minus {
				y = -y
			}
			return uint64(min(max(x+y, low), high))
		})
	}
	if op := fastSum(t, minus); op != nil {
		return op
	}
	return elementwise(t, 2, func(_ isa.Type, a, b uint64) uint64 {
		if minus {
			return a - b
		}
		return a + b
	})
}

// carrySum returns an addition or subtraction that reads or writes the carry flag. A subtraction
// adds the complement of b, so its carry is the opposite of a borrow. The manual calls the flag a
// borrow. The difference is visible in code that mixes additions and subtractions, such as the
// 128-bit division of nvcc, and in the machine code of ptxas for sub.cc followed by addc.
func carrySum(t isa.Type, minus, in, out, sat bool) *Op {
	n := t.Bits()
	low, high := int64(0), int64(0)
	if sat {
		low, high = limits(t)
	}
	op := &Op{In: []isa.Type{t, t}, Out: []isa.Type{t}, CarryIn: in, CarryOut: out}
	op.PIn, op.POut = count(in), count(out)
	m := mask(t)
	op.Lane = func(c *Cell) {
		a, b, carry := c.In[0]&m, c.In[1]&m, uint64(0) // for a subtraction, the borrow
		if in && c.PIn[0] != minus {
			carry = 1
		}
		if sat {
			x, y := extend(t, a), extend(t, b)+int64(carry)
			if minus {
				x -= y
			} else {
				x += y
			}
			c.Out[0] = uint64(min(max(x, low), high)) & m
			return
		}
		var d, k uint64
		if minus {
			d, k = bits.Sub64(a, b, carry)
			if n < 64 {
				k = d >> n & 1
			}
		} else {
			d, k = bits.Add64(a, b, carry)
			if n < 64 {
				k = d >> n & 1
			}
		}
		c.Out[0] = d & m
		c.POut[0] = (k != 0) != minus
	}
	return op
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// intCarry returns the operation of addc or subc.
func intCarry(s *spec) *Op {
	t := s.typ(0)
	if len(s.types) != 1 || !isInt(t) {
		return nil
	}
	return carrySum(t, s.kind == isa.KindSubc, true, s.has(isa.ModCC), s.has(isa.ModSat))
}

// product returns the 128-bit product of a and b, which have type t.
func product(t isa.Type, a, b uint64) (hi, lo uint64) {
	x, y := uint64(extend(t, a)), uint64(extend(t, b))
	hi, lo = bits.Mul64(x, y)
	if isSigned(t) {
		if int64(x) < 0 {
			hi -= y
		}
		if int64(y) < 0 {
			hi -= x
		}
	}
	return hi, lo
}

// part returns the low or the high half of the product of a and b, which have type t.
func part(t isa.Type, high bool, a, b uint64) uint64 {
	hi, lo := product(t, a, b)
	switch {
	case !high:
		return lo & mask(t)
	case t.Bits() == 64:
		return hi
	}
	return lo >> t.Bits() & mask(t)
}

// wider returns the integer type of the same sign with twice the width.
func wider(t isa.Type) isa.Type {
	switch t {
	case isa.U16:
		return isa.U32
	case isa.S16:
		return isa.S32
	case isa.U32:
		return isa.U64
	case isa.S32:
		return isa.S64
	}
	return 0
}

// intProduct returns the operation of mul, mad or madc on integers, with a result of their width.
func intProduct(s *spec) *Op {
	t := s.typ(0)
	if len(s.types) != 1 || !isInt(t) {
		return nil
	}
	high := s.kind == isa.KindMulHi || s.kind == isa.KindMadHi || s.kind == isa.KindMadcHi
	switch {
	case s.kind.Head() == isa.HeadMadc || s.has(isa.ModCC):
		return carryProduct(s, t, high)
	case s.kind.Head() == isa.HeadMul:
		if op := fastProduct(t, high, false); op != nil {
			return op
		}
		return binary(t, t, t, func(a, b uint64) uint64 { return part(t, high, a, b) })
	case s.has(isa.ModSat):
		low, top := limits(t)
		return ternary(t, t, t, t, func(a, b, c uint64) uint64 {
			x := signed(part(t, high, a, b), t.Bits()) + extend(t, c)
			return uint64(min(max(x, low), top))
		})
	}
	if op := fastProduct(t, high, true); op != nil {
		return op
	}
	return ternary(t, t, t, t, func(a, b, c uint64) uint64 { return part(t, high, a, b) + c })
}

// wideProduct returns the operation of mul.wide or mad.wide.
func wideProduct(s *spec) *Op {
	t := s.typ(0)
	w := wider(t)
	if len(s.types) != 1 || w == 0 {
		return nil
	}
	if op := fastWide(t, s.kind == isa.KindMadWide); op != nil {
		return op
	}
	if s.kind == isa.KindMulWide {
		return binary(w, t, t, func(a, b uint64) uint64 {
			_, lo := product(t, a, b)
			return lo
		})
	}
	return ternary(w, t, t, w, func(a, b, c uint64) uint64 {
		_, lo := product(t, a, b)
		return lo + c
	})
}

// carryProduct returns the operation of mad.cc or madc. The manual has no 16-bit or saturating
// madc. ptxas accepts them: it computes the high half from 32-bit operands, and wraps.
func carryProduct(s *spec, t isa.Type, high bool) *Op {
	sum := carrySum(t, false, s.kind.Head() == isa.HeadMadc, s.has(isa.ModCC), false)
	narrow := t.Bits() == 16 && high
	op := *sum
	op.In = []isa.Type{t, t, t}
	op.Lane = func(c *Cell) {
		a := part(t, high, c.In[0], c.In[1])
		if narrow {
			_, lo := product(t, c.In[0], c.In[1])
			a = lo >> 32
		}
		c.In[0], c.In[1] = a, c.In[2]
		sum.Lane(c)
	}
	return &op
}

// intProduct24 returns the operation of mul24 or mad24.
func intProduct24(s *spec) *Op {
	t := s.typ(0)
	if t != isa.U32 && t != isa.S32 {
		return nil
	}
	high := s.kind == isa.KindMul24Hi || s.kind == isa.KindMad24Hi
	mul := func(a, b uint64) uint64 {
		x, y := int64(a&(1<<24-1)), int64(b&(1<<24-1))
		if t == isa.S32 {
			x, y = signed(a, 24), signed(b, 24)
		}
		if high {
			return uint64(x*y) >> 16
		}
		return uint64(x * y)
	}
	if s.kind.Head() == isa.HeadMul24 {
		return binary(t, t, t, mul)
	}
	if s.has(isa.ModSat) {
		low, top := limits(t)
		return ternary(t, t, t, t, func(a, b, c uint64) uint64 {
			return uint64(min(max(signed(mul(a, b), 32)+extend(t, c), low), top))
		})
	}
	return ternary(t, t, t, t, func(a, b, c uint64) uint64 { return mul(a, b) + c })
}

// intSad returns the operation of sad, the sum of an absolute difference and an addend.
func intSad(s *spec) *Op {
	t := s.typ(0)
	if !isInt(t) {
		return nil
	}
	return ternary(t, t, t, t, func(a, b, c uint64) uint64 {
		if less(t, a, b) {
			a, b = b, a
		}
		return c + a - b
	})
}

// less reports whether a < b as integers of a type.
func less(t isa.Type, a, b uint64) bool {
	if isSigned(t) {
		return extend(t, a) < extend(t, b)
	}
	return a&mask(t) < b&mask(t)
}

// intQuotient returns the operation of div or rem on integers. The manual does not define
// division by zero; here it returns all ones.
func intQuotient(s *spec) *Op {
	t := s.typ(0)
	if len(s.types) != 1 || !isInt(t) {
		return nil
	}
	rest := s.kind == isa.KindRem
	return binary(t, t, t, func(a, b uint64) uint64 {
		switch {
		case b == 0:
			return ^uint64(0)
		case !isSigned(t) && rest:
			return a % b
		case !isSigned(t):
			return a / b
		case rest:
			return uint64(extend(t, a) % extend(t, b))
		}
		// the smallest value divided by -1 is itself
		return uint64(extend(t, a) / extend(t, b))
	})
}

// intSign returns the operation of abs or neg on integers.
func intSign(s *spec) *Op {
	t := s.typ(0)
	abs := s.kind == isa.KindAbs
	return elementwise(t, 1, func(t isa.Type, a, _ uint64) uint64 {
		if abs && signed(a, t.Bits()) >= 0 {
			return a
		}
		return -a
	})
}

// intExtreme returns the operation of min or max on integers.
func intExtreme(s *spec) *Op {
	if len(s.types) != 1 {
		return nil
	}
	largest, relu := s.kind == isa.KindMax, s.has(isa.ModReLU)
	if op := fastExtreme(s.typ(0), largest); op != nil && !relu {
		return op
	}
	return elementwise(s.typ(0), 2, func(t isa.Type, a, b uint64) uint64 {
		if less(t, a, b) == largest {
			a = b
		}
		if relu && signed(a, t.Bits()) < 0 {
			return 0
		}
		return a
	})
}

// dot returns the operation of dp4a or dp2a, a dot product of bytes or half words.
func dot(s *spec) *Op {
	if len(s.types) != 2 {
		return nil
	}
	ta, tb := s.types[0], s.types[1]
	n, wide, shift := 4, 8, 0
	if s.kind.Head() == isa.HeadDp2a {
		n, wide = 2, 16
		if s.kind == isa.KindDp2aHi {
			shift = 16
		}
	}
	take := func(t isa.Type, x uint64, at, wide int) uint64 {
		x = x >> at & (1<<wide - 1)
		if isSigned(t) {
			return uint64(signed(x, wide))
		}
		return x
	}
	sum := isa.U32
	if isSigned(ta) || isSigned(tb) {
		sum = isa.S32
	}
	return ternary(sum, ta, tb, sum, func(a, b, c uint64) uint64 {
		for i := range n {
			c += take(ta, a, i*wide, wide) * take(tb, b, shift+i*8, 8)
		}
		return c
	})
}
