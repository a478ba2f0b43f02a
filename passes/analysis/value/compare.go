// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

// Not returns the negation of a predicate.
func (p *Pool) Not(v *Value) *Value { return p.combine(1, p.Const(1, 1), v, -1) }

// Select returns a if c is true, or else b.
func (p *Pool) Select(c, a, b *Value) *Value {
	switch {
	case a == b:
		return a
	case c.Const():
		if c.K != 0 {
			return a
		}
		return b
	case a.Width == 1 && a.Is(1) && b.Is(0):
		return c
	case a.Width == 1 && a.Is(0) && b.Is(1):
		return p.Not(c)
	}
	if atom, not := c.Condition(); not && atom != nil {
		c, a, b = p.Not(c), b, a
	}
	v := p.Atom(a.Width, OpSelect, "", nil, Constant, c, a, b)
	if s := v.Single(); s.Zeros == 0 {
		s.Zeros = min(a.Zeros(), b.Zeros())
		al, ah, aok := a.Bounds()
		bl, bh, bok := b.Bounds()
		if aok && bok {
			setBounds(v, min(al, bl), max(ah, bh))
		}
	}
	return v
}

// Compare returns the predicate of a comparison. op is OpEq, OpNe, OpLt, OpLe, OpGt or OpGe.
func (p *Pool) Compare(op Op, signed bool, a, b *Value) *Value {
	switch op {
	case OpNe:
		return p.Not(p.Compare(OpEq, signed, a, b))
	case OpGt:
		return p.Compare(OpLt, signed, b, a)
	case OpGe:
		return p.Not(p.Compare(OpLt, signed, a, b))
	case OpLe:
		return p.Not(p.Compare(OpLt, signed, b, a))
	}
	width := max(a.Width, b.Width)
	if a.Const() && b.Const() {
		return p.Bool(comparison(op, signed, width)(a.K, b.K) != 0)
	}
	diff := p.Sub(width, a, b)
	if diff.Const() {
		if op == OpEq {
			return p.Bool(diff.K == 0)
		}
		return p.Bool(diff.K < 0)
	}
	if op == OpEq {
		if v := p.simplifyEqual(a, b); v != nil {
			return v
		}
		if diff.Terms[0].Factor < 0 {
			diff = p.Scale(width, diff, -1)
		}
		if l, h, ok := diff.Bounds(); ok && (l > 0 || h < 0) {
			return p.Bool(false)
		}
		return p.Atom(1, OpEq, "", nil, Constant, diff, p.Const(width, 0))
	}
	al, ah, aok := a.Bounds()
	bl, bh, bok := b.Bounds()
	if aok && bok && (!signed || width == 64 || ah < 1<<31 && bh < 1<<31) {
		if ah < bl {
			return p.Bool(true)
		}
		if al >= bh {
			return p.Bool(false)
		}
	}
	if !signed && b.Is(0) {
		return p.Bool(false)
	}
	if !signed && b.Is(1) {
		return p.Compare(OpEq, false, a, p.Const(width, 0))
	}
	if !signed && a.Is(0) {
		return p.Not(p.Compare(OpEq, false, b, p.Const(width, 0)))
	}
	name := "u"
	if signed {
		name = "s"
	}
	return p.Atom(1, OpLt, name, nil, Constant, a, b)
}

// simplifyEqual simplifies the comparison of a selection with a constant, and the comparison of
// combined bits with zero. It returns nil if neither applies.
func (p *Pool) simplifyEqual(a, b *Value) *Value {
	if a.Const() {
		a, b = b, a
	}
	if b.Is(0) {
		if v := p.isZero(a); v != nil {
			return v
		}
	}
	s := a.Single()
	if s == nil || s.Op != OpSelect || !b.Const() || !s.Args[1].Const() || !s.Args[2].Const() {
		return nil
	}
	yes, no := s.Args[1].K == b.K, s.Args[2].K == b.K
	return p.Select(s.Args[0], p.Bool(yes), p.Bool(no))
}

// isZero returns the predicate that a is zero, expressed by the parts of a, or nil if that is
// impossible. Both operands of an or must be zero, the operands of an xor must be equal, or all
// terms of a non-negative sum must be zero.
func (p *Pool) isZero(a *Value) *Value {
	zero := p.Const(a.Width, 0)
	if s := a.Single(); s != nil {
		switch {
		case a.Width == 1 || s.Nested > 0:
		case s.Op == OpOr:
			return p.Binary(OpAnd, 1, p.Compare(OpEq, false, s.Args[0], zero),
				p.Compare(OpEq, false, s.Args[1], zero))
		case s.Op == OpXor:
			return p.Compare(OpEq, false, s.Args[0], s.Args[1])
		}
		return nil
	}
	const most = 4
	if _, _, ok := a.Bounds(); !ok || a.K != 0 || len(a.Terms) > most {
		return nil
	}
	for _, t := range a.Terms {
		if t.Factor < 0 || t.Atom.Low < 0 {
			return nil
		}
	}
	all := p.Bool(true)
	for _, t := range a.Terms {
		one := p.sum(a.Width, 0, []Term{{1, t.Atom}})
		all = p.Binary(OpAnd, 1, all, p.Compare(OpEq, false, one, zero))
	}
	return all
}
