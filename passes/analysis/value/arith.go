// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// Add returns a + b with the given width in bits.
func (p *Pool) Add(width int, a, b *Value) *Value { return p.combine(width, a, b, 1) }

// Sub returns a - b with the given width in bits.
func (p *Pool) Sub(width int, a, b *Value) *Value { return p.combine(width, a, b, -1) }

// combine returns a + factor*b with the given width in bits.
func (p *Pool) combine(width int, a, b *Value, factor int64) *Value {
	if len(b.Terms) == 0 && len(a.Terms) == 0 {
		return p.Const(width, a.K+factor*b.K)
	}
	if b.Const() && b.K == 0 && a.Width == width {
		return a
	}
	terms := p.terms[:0]
	i, j := 0, 0
	for i < len(a.Terms) || j < len(b.Terms) {
		var t Term
		switch {
		case j == len(b.Terms) || i < len(a.Terms) && a.Terms[i].Atom.ID < b.Terms[j].Atom.ID:
			t = a.Terms[i]
			i++
		case i == len(a.Terms) || b.Terms[j].Atom.ID < a.Terms[i].Atom.ID:
			t = Term{factor * b.Terms[j].Factor, b.Terms[j].Atom}
			j++
		default:
			t = Term{a.Terms[i].Factor + factor*b.Terms[j].Factor, a.Terms[i].Atom}
			i++
			j++
		}
		if t.Factor = wrap(width, t.Factor); t.Factor != 0 {
			terms = append(terms, t)
		}
	}
	p.terms = terms
	return p.sum(width, a.K+factor*b.K, terms)
}

// Scale returns k*v with the given width in bits.
func (p *Pool) Scale(width int, v *Value, k int64) *Value {
	terms := p.terms[:0]
	for _, t := range v.Terms {
		if f := wrap(width, t.Factor*k); f != 0 {
			terms = append(terms, Term{f, t.Atom})
		}
	}
	p.terms = terms
	return p.sum(width, v.K*k, terms)
}

// Resize returns v with another width. signed selects sign extension. Sums are assumed not to
// overflow; bits of a constant above the new width are dropped.
func (p *Pool) Resize(width int, v *Value, signed bool) *Value {
	if v.Width == width {
		return v
	}
	if v.Const() {
		k := v.K
		if width > v.Width && !signed && v.Width < 64 {
			k &= 1<<v.Width - 1
		}
		return p.Const(width, k)
	}
	if width > v.Width && v.K < 0 && !signed && !v.Tid() {
		return p.Atom(width, OpCvt, "", nil, Constant, v)
	}
	if width < 32 && v.Width > width || v.Width == 1 {
		return p.Atom(width, OpCvt, "", nil, Constant, v)
	}
	return p.sum(width, v.K, v.Terms)
}

// Binary returns the result of op on a and b, simplified if possible. op must be an arithmetic or
// bitwise operation on integers, or a bitwise operation on predicates.
func (p *Pool) Binary(op Op, width int, a, b *Value) *Value {
	key := step{op, a, b, nil}
	if v, ok := p.folded[key]; ok && v.Width == width {
		return v
	}
	v := p.binary(op, width, a, b)
	p.folded[key] = v
	return v
}

func (p *Pool) binary(op Op, width int, a, b *Value) *Value {
	if a.Const() && b.Const() {
		if k, ok := fold(op, width, a.K, b.K); ok {
			return p.Const(width, k)
		}
	}
	commutes := op == OpMul || op == OpAnd || op == OpOr || op == OpXor
	if commutes && (a.Const() || !b.Const() && a.ID > b.ID) {
		a, b = b, a
	}
	if width == 1 {
		if v := p.simplifyLogic(op, a, b); v != nil {
			return v
		}
	} else if b.Const() {
		if v := p.simplifyByConst(op, width, a, b.K); v != nil {
			return v
		}
	} else if (op == OpOr || op == OpXor) && disjointBits(a, b) {
		return p.Add(width, a, b)
	}
	v := p.Atom(width, op, "", nil, Constant, a, b)
	p.recordBounds(v, op, width, a, b)
	return v
}

// High returns the upper half of a product, which compilers use for division, or nil if it is
// unknown. For a width of 64 bits, it is known only for constants.
func (p *Pool) High(width int, a, b *Value, signed bool) *Value {
	if width < 64 {
		product := p.Binary(OpMul, 64, p.Resize(64, a, signed), p.Resize(64, b, signed))
		return p.Resize(width, p.Binary(OpShr, 64, product, p.Const(32, int64(width))), true)
	}
	if !a.Const() || !b.Const() {
		return nil
	}
	t := isa.U64
	if signed {
		t = isa.S64
	}
	return p.Const(width, int64(eval.Plain(isa.KindMulHi, t)(uint64(a.K), uint64(b.K), 0, 0)))
}

// disjointBits reports whether a and b certainly have no set bit in common.
func disjointBits(a, b *Value) bool {
	if _, h, ok := a.Bounds(); ok && bits.Len64(uint64(h)) <= b.Zeros() {
		return true
	}
	_, h, ok := b.Bounds()
	return ok && bits.Len64(uint64(h)) <= a.Zeros()
}

// simplifyLogic returns the simplified result of an operation on predicates, if an operand is
// constant or the operands are equal. Otherwise it returns nil.
func (p *Pool) simplifyLogic(op Op, a, b *Value) *Value {
	switch {
	case a == b && op != OpXor:
		return a
	case !b.Const() || op == OpXor && b.K == 0:
		if b.Const() {
			return a
		}
		return nil
	case op == OpXor:
		return p.Not(a)
	case (op == OpAnd) == (b.K != 0):
		return a
	}
	return b
}

// simplifyByConst returns the simplified result of an operation with the constant k on the right,
// or nil.
func (p *Pool) simplifyByConst(op Op, width int, a *Value, k int64) *Value {
	switch op {
	case OpMul:
		return p.Scale(width, a, k)
	case OpShl:
		if k >= 0 && k < int64(width) {
			return p.Scale(width, a, 1<<k)
		}
	case OpShr, OpSar:
		if k == 0 {
			return a
		}
		if k > 0 && k < int64(width) {
			return p.shr(width, a, int(k))
		}
	case OpDiv:
		if k > 0 && bits.OnesCount64(uint64(k)) == 1 {
			return p.Binary(OpShr, width, a, p.Const(32, int64(bits.TrailingZeros64(uint64(k)))))
		}
	case OpRem:
		if k > 0 && bits.OnesCount64(uint64(k)) == 1 {
			return p.Binary(OpAnd, width, a, p.Const(width, k-1))
		}
	case OpAnd:
		return p.and(width, a, k)
	case OpOr, OpXor:
		if k == 0 {
			return a
		}
		if low := p.Const(width, k); disjointBits(a, low) || k > 0 && fitsBetween(a, k) {
			return p.Add(width, a, low)
		}
	}
	return nil
}

// fitsBetween reports whether a and k have no set bit in common, because a is small enough to fit
// below, between or above the bits of k.
func fitsBetween(a *Value, k int64) bool {
	_, h, ok := a.Bounds()
	if !ok {
		return false
	}
	mask := int64(1)<<bits.Len64(uint64(h)) - 1
	mask &^= 1<<a.Zeros() - 1
	return mask&k == 0
}

// shr returns a shifted right by k bits, if the bits that are shifted out can be separated from
// the other bits. Otherwise it returns nil.
func (p *Pool) shr(width int, a *Value, k int) *Value {
	if _, h, ok := a.Bounds(); ok && h>>k == 0 {
		return p.Const(width, 0)
	}
	if p.termZeros(a) >= k && a.K >= 0 {
		out := p.Const(width, a.K>>k)
		for _, t := range a.Terms {
			if t.Factor>>k<<k == t.Factor {
				out = p.Add(width, out, p.sum(width, 0, []Term{{t.Factor >> k, t.Atom}}))
				continue
			}
			one := p.sum(width, 0, []Term{t})
			s := p.Atom(width, OpShr, "", nil, Constant, one, p.Const(32, int64(k)))
			if atom := s.Single(); atom.Zeros == 0 {
				atom.Zeros = max(0, one.Zeros()-k)
			}
			p.recordBounds(s, OpShr, width, one, p.Const(32, int64(k)))
			out = p.Add(width, out, s)
		}
		return out
	}
	return nil
}

// and returns a & k, simplified, or nil if it cannot be simplified.
func (p *Pool) and(width int, a *Value, k int64) *Value {
	if k == 0 {
		return p.Const(width, 0)
	}
	_, h, ok := a.Bounds()
	if ok && k > 0 && bits.OnesCount64(uint64(k+1)) == 1 && h <= k {
		return a
	}
	z := p.termZeros(a)
	if z > 0 && k > 0 && bits.Len64(uint64(k)) <= z {
		return p.Const(width, a.K&k)
	}
	if low := -k; k < 0 && bits.OnesCount64(uint64(low)) == 1 &&
		z >= bits.TrailingZeros64(uint64(low)) {
		return p.sum(width, a.K&k, a.Terms)
	}
	return nil
}

// termZeros returns the number of low bits that the terms of a sum leave zero, so that only the
// constant can set them.
func (p *Pool) termZeros(a *Value) int { return p.sum(a.Width, 0, a.Terms).Zeros() }

// recordBounds records known properties of a result that cannot be simplified.
func (p *Pool) recordBounds(v *Value, op Op, width int, a, b *Value) {
	s := v.Single()
	if s == nil || s.Bounded {
		return
	}
	_, high, ok := a.Bounds()
	if op == OpOr || op == OpXor {
		if !ok {
			return
		}
		if _, other, also := b.Bounds(); also {
			setBounds(v, 0, 1<<bits.Len64(uint64(high|other))-1)
		}
		s.Zeros = min(a.Zeros(), b.Zeros())
		return
	}
	if !b.Const() {
		return
	}
	if op == OpAnd {
		s.Zeros = max(a.Zeros(), b.Zeros())
	}
	if low, high, ok := boundsByConst(op, width, high, ok, b.K); ok {
		setBounds(v, low, high)
	}
}

// boundsByConst returns the bounds of an operation with the constant k on the right. The
// parameter high is the largest value of the left operand, if ok is set. The last result is false
// if the operation has no bounds.
func boundsByConst(op Op, width int, high int64, ok bool, k int64) (int64, int64, bool) {
	if k < 0 {
		return 0, high, op == OpAnd && ok
	}
	switch op {
	case OpAnd, OpMin:
		return 0, k, true
	case OpMax:
		return k, max(high, k), ok
	case OpSMax:
		return k, 1<<(width-1) - 1, width <= 32
	}
	if k == 0 {
		return 0, 0, false
	}
	switch op {
	case OpDiv:
		return 0, high / k, ok
	case OpRem:
		return 0, k - 1, true
	case OpShr:
		if !ok {
			high = 1<<min(62, width) - 1
		}
		return 0, high >> k, k < int64(width)
	}
	return 0, 0, false
}

// Rest returns v without its constant and without the terms that depend only on the thread index.
// The distance between two addresses is known only if their rests are equal.
func (p *Pool) Rest(v *Value) *Value {
	terms := slices.DeleteFunc(slices.Clone(v.Terms), func(t Term) bool { return t.Atom.Tid })
	return p.sum(v.Width, 0, terms)
}

// Alone returns the 64-bit value that consists of one atom.
func (p *Pool) Alone(a *Atom) *Value { return p.alone(64, a) }
