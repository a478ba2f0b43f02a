// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// bitCount returns the operation of popc, clz or brev.
func bitCount(s *spec) *Op {
	t := s.typ(0)
	if t != isa.B32 && t != isa.B64 {
		return nil
	}
	switch s.kind {
	case isa.KindPopc:
		return unary(isa.U32, t, func(a uint64) uint64 { return uint64(bits.OnesCount64(a)) })
	case isa.KindClz:
		short := uint64(64 - t.Bits())
		return unary(isa.U32, t, func(a uint64) uint64 {
			return uint64(bits.LeadingZeros64(a)) - short
		})
	}
	return unary(t, t, func(a uint64) uint64 { return bits.Reverse64(a) >> (64 - t.Bits()) })
}

// bfind returns the operation of bfind: the position of the highest bit that differs from the sign
// bit.
func bfind(s *spec) *Op {
	t, shift := s.typ(0), s.has(isa.ModShiftamt)
	if !isInt(t) {
		return nil
	}
	return unary(isa.U32, t, func(a uint64) uint64 {
		x := uint64(extend(t, a))
		if isSigned(t) && int64(x) < 0 {
			x = ^x
		}
		n := bits.Len64(x)
		switch {
		case n == 0:
			return 1<<32 - 1
		case shift:
			return uint64(t.Bits() - n)
		}
		return uint64(n - 1)
	})
}

// fns returns the operation of fns: the position of the n-th set bit, starting at a base. The
// manual does not define two cases: a base above 31 finds nothing, and the smallest negative offset
// gives zero.
func fns(*spec) *Op {
	return ternary(isa.B32, isa.B32, isa.U32, isa.S32, func(mask, base, offset uint64) uint64 {
		n := signed(offset, 32)
		switch {
		case n == math.MinInt32:
			return 0
		case base > 31:
			return 1<<32 - 1
		}
		at, step, left := int(base), 1, n
		switch {
		case n == 0:
			if mask>>at&1 != 0 {
				return base
			}
			return 1<<32 - 1
		case n < 0:
			step, left = -1, -n
		}
		for ; at >= 0 && at < 32; at += step {
			if mask>>at&1 == 0 {
				continue
			}
			if left--; left == 0 {
				return uint64(at)
			}
		}
		return 1<<32 - 1
	})
}

// bitField returns the operation of bfe, which extracts a bit field and extends it by its highest
// bit. For 32-bit operands, only the low eight bits of position and length are used, as the
// manual says; for 64-bit operands all bits are used.
func bitField(s *spec) *Op {
	t := s.typ(0)
	if !isInt(t) {
		return nil
	}
	width := t.Bits()
	return ternary(t, t, isa.U32, isa.U32, func(a, pos, length uint64) uint64 {
		p, n := int(pos), int(length)
		if width == 32 {
			p, n = p&255, n&255
		}
		x := uint64(extend(t, a))
		if n == 0 {
			return 0
		}
		if p >= width {
			if isSigned(t) {
				return uint64(int64(x) >> 63)
			}
			return 0
		}
		if isSigned(t) {
			x = uint64(int64(x) >> p)
			return uint64(signed(x, min(n, 64)))
		}
		return x >> p & (1<<n - 1)
	})
}

// bitInsert returns the operation of bfi. Positions and lengths are treated as in bfe.
func bitInsert(s *spec) *Op {
	t := s.typ(0)
	read := uint64(255)
	if t.Bits() == 64 {
		read = math.MaxUint32
	}
	in := []isa.Type{t, t, isa.U32, isa.U32}
	insert := func(a, b, p, n uint64) uint64 {
		p, n = p&read, n&read
		field := uint64(1)<<n - 1
		return b&^(field<<p) | a&field<<p
	}
	m := mask(t)
	op := many(t, in, func(x *[8]uint64) uint64 { return insert(x[0], x[1], x[2], x[3]) })
	op.Scalar = func(a, b, p, n uint64) uint64 { return insert(a&m, b&m, p, n) & m }
	return op
}

// signZeroExtend returns the operation of szext, which extends the low bits of a number.
func signZeroExtend(s *spec) *Op {
	t, clamp := s.typ(0), s.has(isa.ModClamp)
	return binary(t, t, isa.U32, func(a, b uint64) uint64 {
		n := b & 31
		switch {
		case clamp && b >= 32:
			return a
		case n == 0:
			return 0
		case isSigned(t):
			return uint64(signed(a, int(n)))
		}
		return a & (1<<n - 1)
	})
}

// bitMask returns the operation of bmsk, which returns a mask of consecutive bits.
func bitMask(s *spec) *Op {
	clamp := s.has(isa.ModClamp)
	return binary(isa.B32, isa.U32, isa.U32, func(a, b uint64) uint64 {
		if clamp {
			if a >= 32 {
				return 0
			}
			b = min(b, 32)
		} else {
			a, b = a&31, b&31
		}
		return (1<<b - 1) << a
	})
}

// carryless returns the operation of clmad, a carry-less multiply-add: the product of two
// polynomials over single bits.
func carryless(s *spec) *Op {
	high := s.kind == isa.KindClmadHi
	return ternary(isa.U64, isa.U64, isa.U64, isa.U64, func(a, b, c uint64) uint64 {
		var hi, lo uint64
		for i := range 64 {
			if b>>i&1 != 0 {
				lo ^= a << i
				hi ^= a >> (64 - i)
			}
		}
		if high {
			return hi ^ c
		}
		return lo ^ c
	})
}

// funnel returns the operation of shf, which shifts the concatenation of two words.
func funnel(s *spec) *Op {
	left, wrap := s.kind == isa.KindShfL, s.has(isa.ModWrap)
	return ternary(isa.B32, isa.B32, isa.B32, isa.U32, func(a, b, n uint64) uint64 {
		if wrap {
			n &= 31
		}
		n = min(n, 32)
		if left {
			return (b<<32 | a) << n >> 32
		}
		return (b<<32 | a) >> n
	})
}

// shift returns the operation of shl or shr. Shift amounts above the width shift all bits out.
func shift(s *spec) *Op {
	t := s.typ(0)
	if op := fastShift(t, s.kind == isa.KindShl); op != nil {
		return op
	}
	if s.kind == isa.KindShl {
		return binary(t, t, isa.U32, func(a, n uint64) uint64 { return a << n })
	}
	if isSigned(t) {
		return binary(t, t, isa.U32, func(a, n uint64) uint64 { return uint64(extend(t, a) >> n) })
	}
	return binary(t, t, isa.U32, func(a, n uint64) uint64 { return a >> n })
}

// logic returns the operation of and, or, xor, not or cnot, on registers or predicates.
func logic(s *spec) *Op {
	t := s.typ(0)
	if t == isa.Predicate {
		return predicateLogic(s.kind)
	}
	if op := fastLogic(t, s.kind); op != nil {
		return op
	}
	switch s.kind {
	case isa.KindAnd:
		return binary(t, t, t, func(a, b uint64) uint64 { return a & b })
	case isa.KindOr:
		return binary(t, t, t, func(a, b uint64) uint64 { return a | b })
	case isa.KindXor:
		return binary(t, t, t, func(a, b uint64) uint64 { return a ^ b })
	case isa.KindNot:
		return unary(t, t, func(a uint64) uint64 { return ^a })
	}
	return unary(t, t, func(a uint64) uint64 {
		if a == 0 {
			return 1
		}
		return 0
	})
}

// masks holds the operations on predicates. A predicate is a mask with one bit for each lane.
var masks = map[isa.Kind]func(a, b uint32) uint32{
	isa.KindAnd: func(a, b uint32) uint32 { return a & b },
	isa.KindOr:  func(a, b uint32) uint32 { return a | b },
	isa.KindXor: func(a, b uint32) uint32 { return a ^ b },
	isa.KindNot: func(a, _ uint32) uint32 { return ^a },
	isa.KindMov: func(a, _ uint32) uint32 { return a },
}

// predicateLogic returns the operation of and, or, xor, not or mov on predicates.
func predicateLogic(kind isa.Kind) *Op {
	f := masks[kind]
	if f == nil {
		return nil
	}
	op := &Op{PIn: 2, POut: 1, Warp: func(fr *Frame) { fr.POut[0] = f(fr.PIn[0], fr.PIn[1]) }}
	if kind == isa.KindNot || kind == isa.KindMov {
		op.PIn = 1
	}
	op.Lane = func(c *Cell) { c.POut[0] = f(flag(c.PIn[0]), flag(c.PIn[1]))&1 != 0 }
	op.Scalar = func(a, b, _, _ uint64) uint64 { return uint64(f(uint32(a), uint32(b)) & 1) }
	return op
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// lop3 returns the operation of lop3: any function of three bits, whose truth table is the fourth
// operand.
func lop3(s *spec) *Op {
	f := func(a, b, c, table uint64) (d uint64) {
		for i := range uint(8) {
			if table>>i&1 == 0 {
				continue
			}
			x, y, z := ^a, ^b, ^c
			if i&4 != 0 {
				x = a
			}
			if i&2 != 0 {
				y = b
			}
			if i&1 != 0 {
				z = c
			}
			d |= x & y & z
		}
		return d & (1<<32 - 1)
	}
	op := &Op{In: []isa.Type{isa.B32, isa.B32, isa.B32, isa.U32}, Out: []isa.Type{isa.B32}}
	or := s.has(isa.ModOr)
	if !or && !s.has(isa.ModAnd) {
		op.Lane = func(c *Cell) { c.Out[0] = f(c.In[0], c.In[1], c.In[2], c.In[3]) }
		op.Warp = lop3Warp
		op.Scalar = func(a, b, c, table uint64) uint64 { return f(a, b, c, table) }
		return op
	}
	op.PIn, op.POut = 1, 1
	op.Lane = func(c *Cell) {
		d := f(c.In[0], c.In[1], c.In[2], c.In[3])
		c.Out[0] = d
		if or {
			c.POut[0] = d != 0 || c.PIn[0]
		} else {
			c.POut[0] = d != 0 && c.PIn[0]
		}
	}
	return op
}

// permute returns the operation of prmt, which selects bytes of two words.
func permute(s *spec) *Op {
	permuted, mode := choose(s, permutations)
	return ternary(isa.B32, isa.B32, isa.B32, isa.B32, func(a, b, c uint64) (d uint64) {
		all := b<<32 | a
		if !mode {
			for i := 0; i < 32; i += 8 {
				x := all >> (c & 7 * 8) & 255
				if c&8 != 0 {
					x = x >> 7 * 255
				}
				d |= x << i
				c >>= 4
			}
			return d
		}
		n := int(c & 3)
		for i := range 4 {
			d |= all >> (8 * permuted(n, i)) & 255 << (8 * i)
		}
		return d
	})
}

// permutations holds the modes of prmt: for selector n and result byte i, each function returns the
// index of the source byte.
var permutations = map[isa.Mod]func(n, i int) int{
	isa.ModF4e:  func(n, i int) int { return n + i },
	isa.ModB4e:  func(n, i int) int { return (n - i) & 7 },
	isa.ModRC8:  func(n, _ int) int { return n },
	isa.ModEcl:  func(n, i int) int { return max(n, i) },
	isa.ModEcr:  func(n, i int) int { return min(n, i) },
	isa.ModRC16: func(n, i int) int { return n&1*2 + i&1 },
}
