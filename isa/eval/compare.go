// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
)

// An ordering is a set of possible results of a comparison: less, equal, greater, unordered.
type ordering uint8

const (
	lower ordering = 1 << iota
	same
	higher
	unordered
)

// comparisons are the orderings in which each comparison is true.
var comparisons = map[isa.Mod]ordering{
	isa.ModEQ: same, isa.ModNE: lower | higher,
	isa.ModLT: lower, isa.ModLE: lower | same, isa.ModGT: higher, isa.ModGE: higher | same,
	isa.ModLo: lower, isa.ModLS: lower | same, isa.ModHi: higher, isa.ModHS: higher | same,
	isa.ModEQU: same | unordered, isa.ModNEU: lower | higher | unordered,
	isa.ModLTU: lower | unordered, isa.ModLEU: lower | same | unordered,
	isa.ModGTU: higher | unordered, isa.ModGEU: higher | same | unordered,
	isa.ModIsNum: lower | same | higher, isa.ModIsNaN: unordered,
}

// comparison returns the orderings for which the comparison of the instruction is true, or
// unordered if the instruction has no comparison.
func (s *spec) comparison() ordering {
	if want, ok := choose(s, comparisons); ok {
		return want
	}
	return unordered
}

// boolean returns the operator that combines a comparison with a predicate: isa.ModAnd, isa.ModOr
// or isa.ModXor. It returns isa.NoMod if the instruction has no such operator.
func (s *spec) boolean() isa.Mod {
	for _, m := range s.mods {
		if m == isa.ModAnd || m == isa.ModOr || m == isa.ModXor {
			return m
		}
	}
	return isa.NoMod
}

// comparer returns a function that compares values of type t. It returns the values as unsigned for
// lo, ls, hi and hs, which are unsigned comparisons.
func comparer(t isa.Type, ftz bool) func(a, b uint64) ordering {
	if f := FormatOf(t); f != nil {
		fin := finisher{format: f, ftz: ftz}
		from := decoder(f)
		return func(a, b uint64) ordering { return orderOf(from(fin.in(a)), from(fin.in(b))) }
	}
	flip := uint64(0)
	if isSigned(t) {
		flip = 1 << (t.Bits() - 1)
	}
	m := mask(t)
	return func(a, b uint64) ordering { return orderOf(a&m^flip, b&m^flip) }
}

// orderOf compares numbers. A NaN is unordered.
func orderOf[T int64 | uint64 | float64](a, b T) ordering {
	switch {
	case a < b:
		return lower
	case a > b:
		return higher
	case a == b:
		return same
	}
	return unordered
}

// combine returns the result x of a comparison, combined with predicate c by the operator of set or
// setp.
func combine(boolean isa.Mod, x, c bool) bool {
	switch boolean {
	case isa.ModAnd:
		return x && c
	case isa.ModOr:
		return x || c
	case isa.ModXor:
		return x != c
	}
	return x
}

// setPredicate returns the operation of setp. The second predicate is the complement of the
// comparison, combined in the same way; for packed types it is the comparison of the upper halves.
func setPredicate(s *spec) *Op {
	if len(s.types) != 1 {
		return nil
	}
	t := s.types[0]
	want, boolean := s.comparison(), s.boolean()
	op := &Op{In: []isa.Type{t, t}, POut: 2}
	if boolean != isa.NoMod {
		op.PIn = 1
	}
	element, n := t.Elements()
	cmp := comparer(element, s.has(isa.ModFTZ))
	whole := mask(t)
	op.Lane = func(c *Cell) {
		a, b := c.In[0]&whole, c.In[1]&whole
		x := cmp(a, b)&want != 0
		y := !x
		if n == 2 {
			x = cmp(a&0xffff, b&0xffff)&want != 0
			y = cmp(a>>16&0xffff, b>>16&0xffff)&want != 0
		}
		c.POut = [2]bool{combine(boolean, x, c.PIn[0]), combine(boolean, y, c.PIn[0])}
	}
	m := mask(element)
	op.Scalar = func(a, b, c, _ uint64) uint64 {
		return uint64(bit(combine(boolean, cmp(a&m, b&m)&want != 0, c&1 != 0)))
	}
	if n == 1 {
		op.Warp = fastCompare(t, want, boolean, s.has(isa.ModFTZ))
	}
	return op
}

// fastCompare returns a loop that compares the lanes of a warp, for the most frequent types, or
// nil for other types.
func fastCompare(t isa.Type, want ordering, boolean isa.Mod, ftz bool) func(f *Frame) {
	warp := compareLoop(t, ftz)
	if warp == nil {
		return nil
	}
	return func(f *Frame) {
		low, equal, high := warp(f.In[0], f.In[1])
		var p uint32
		if want&lower != 0 {
			p |= low
		}
		if want&same != 0 {
			p |= equal
		}
		if want&higher != 0 {
			p |= high
		}
		if want&unordered != 0 {
			p |= ^(low | equal | high)
		}
		q := ^p
		switch c := f.PIn[0]; boolean {
		case isa.ModAnd:
			p, q = p&c, q&c
		case isa.ModOr:
			p, q = p|c, q|c
		case isa.ModXor:
			p, q = p^c, q^c
		}
		f.POut = [2]uint32{p, q}
	}
}

// bit returns 1 for true and 0 for false. The compiler turns it into one instruction.
func bit(b bool) uint32 {
	var x uint32
	if b {
		x = 1
	}
	return x
}

func compareLoop(t isa.Type, ftz bool) func(a, b *Vector) (low, equal, high uint32) {
	switch {
	case t == isa.S32:
		return func(a, b *Vector) (low, equal, high uint32) {
			for l := range a {
				x, y := int32(a[l]), int32(b[l])
				low |= bit(x < y) << (l & 31)
				equal |= bit(x == y) << (l & 31)
			}
			return low, equal, ^(low | equal)
		}
	case t == isa.U32 || t == isa.B32:
		return func(a, b *Vector) (low, equal, high uint32) {
			for l := range a {
				x, y := uint32(a[l]), uint32(b[l])
				low |= bit(x < y) << (l & 31)
				equal |= bit(x == y) << (l & 31)
			}
			return low, equal, ^(low | equal)
		}
	case t == isa.S64:
		return func(a, b *Vector) (low, equal, high uint32) {
			for l := range a {
				x, y := int64(a[l]), int64(b[l])
				low |= bit(x < y) << (l & 31)
				equal |= bit(x == y) << (l & 31)
			}
			return low, equal, ^(low | equal)
		}
	case t == isa.U64 || t == isa.B64:
		return func(a, b *Vector) (low, equal, high uint32) {
			for l := range a {
				low |= bit(a[l] < b[l]) << (l & 31)
				equal |= bit(a[l] == b[l]) << (l & 31)
			}
			return low, equal, ^(low | equal)
		}
	case t == isa.F32 && !ftz:
		return func(a, b *Vector) (low, equal, high uint32) {
			for l := range a {
				x, y := math.Float32frombits(uint32(a[l])), math.Float32frombits(uint32(b[l]))
				low |= bit(x < y) << (l & 31)
				equal |= bit(x == y) << (l & 31)
				high |= bit(x > y) << (l & 31)
			}
			return low, equal, high
		}
	}
	return nil
}

// set returns the operation of set, which stores the result of a comparison as a number. The last
// type is that of the operands.
func set(s *spec) *Op {
	if len(s.types) == 1 { // packed integers: the result is a mask
		return setPacked(s)
	}
	if len(s.types) != 2 {
		return nil
	}
	d, t := s.types[0], s.types[1]
	element, n := t.Elements()
	want, boolean := s.comparison(), s.boolean()
	cmp := comparer(element, s.has(isa.ModFTZ))
	result, _ := d.Elements()
	yes := mask(result) // the result for true: all ones
	if f := FormatOf(result); f != nil {
		yes = f.one()
	}
	op := &Op{In: []isa.Type{t, t}, Out: []isa.Type{d}}
	if boolean != isa.NoMod {
		op.PIn = 1
	}
	wide := d.Bits() / n // two results in .u32 are its two halves
	if n > 1 && result == d {
		yes = 1<<wide - 1
	}
	op.Lane = func(c *Cell) {
		c.Out[0] = 0
		for i := range n {
			at := i * element.Bits()
			x := cmp(c.In[0]>>at&mask(element), c.In[1]>>at&mask(element))&want != 0
			if combine(boolean, x, c.PIn[0]) {
				c.Out[0] |= yes << (i * wide)
			}
		}
	}
	if n == 1 {
		op.Scalar = func(a, b, c, _ uint64) uint64 {
			return yes *
				uint64(bit(combine(boolean, cmp(a&mask(t), b&mask(t))&want != 0, c&1 != 0)))
		}
	}
	return op
}

// setPacked returns the operation of set on packed integers. Each result element is all ones or
// all zeros.
func setPacked(s *spec) *Op {
	want := s.comparison()
	return elementwise(s.types[0], 2, func(t isa.Type, a, b uint64) uint64 {
		if comparer(t, false)(a, b)&want != 0 {
			return mask(t)
		}
		return 0
	})
}

// selectByPredicate returns the operation of selp, which selects an operand by a predicate.
func selectByPredicate(s *spec) *Op {
	t := s.typ(0)
	m := mask(t)
	return &Op{
		In: []isa.Type{t, t}, Out: []isa.Type{t}, PIn: 1,
		Lane: func(c *Cell) {
			c.Out[0] = c.In[1] & m
			if c.PIn[0] {
				c.Out[0] = c.In[0] & m
			}
		},
		Scalar: func(a, b, p, _ uint64) uint64 {
			if p&1 != 0 {
				return a & m
			}
			return b & m
		},
		Warp: func(f *Frame) {
			d, a, b, p := f.Out[0], f.In[0], f.In[1], f.PIn[0]
			for l := range d {
				pick := -uint64(p >> (l & 31) & 1)
				d[l] = (b[l] ^ (a[l]^b[l])&pick) & m
			}
		},
	}
}

// selectBySign returns the operation of slct, which selects an operand by the sign of another.
func selectBySign(s *spec) *Op {
	if len(s.types) != 2 {
		return nil
	}
	t := s.types[0]
	cmp := comparer(s.types[1], s.has(isa.ModFTZ))
	return ternary(t, t, t, s.types[1], func(a, b, c uint64) uint64 {
		if cmp(c, 0)&(same|higher) != 0 {
			return a
		}
		return b
	})
}
