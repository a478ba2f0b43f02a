// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// Eq is whether x equals y.
func (x Reg[T]) Eq(y Reg[T]) Reg[Pred] { return comparison("eq", x, y) }

// Ne is whether x differs from y; of floats, whether both are numbers and differ.
func (x Reg[T]) Ne(y Reg[T]) Reg[Pred] { return comparison("ne", x, y) }

// Lt is whether x is less than y.
func (x Reg[T]) Lt(y Reg[T]) Reg[Pred] { return comparison("lt", x, y) }

// Le is whether x is at most y.
func (x Reg[T]) Le(y Reg[T]) Reg[Pred] { return comparison("le", x, y) }

// Gt is whether x is greater than y.
func (x Reg[T]) Gt(y Reg[T]) Reg[Pred] { return comparison("gt", x, y) }

// Ge is whether x is at least y.
func (x Reg[T]) Ge(y Reg[T]) Reg[Pred] { return comparison("ge", x, y) }

// EqI is whether x equals n.
func (x Reg[T]) EqI(n int64) Reg[Pred] { return x.Eq(like(x, n)) }

// NeI is whether x differs from n.
func (x Reg[T]) NeI(n int64) Reg[Pred] { return x.Ne(like(x, n)) }

// LtI is whether x is less than n.
func (x Reg[T]) LtI(n int64) Reg[Pred] { return x.Lt(like(x, n)) }

// LeI is whether x is at most n.
func (x Reg[T]) LeI(n int64) Reg[Pred] { return x.Le(like(x, n)) }

// GtI is whether x is greater than n.
func (x Reg[T]) GtI(n int64) Reg[Pred] { return x.Gt(like(x, n)) }

// GeI is whether x is at least n.
func (x Reg[T]) GeI(n int64) Reg[Pred] { return x.Ge(like(x, n)) }

// EqF is whether a float equals v.
func (x Reg[T]) EqF(v float64) Reg[Pred] { return x.Eq(likeF(x, v)) }

// LtF is whether a float is less than v.
func (x Reg[T]) LtF(v float64) Reg[Pred] { return x.Lt(likeF(x, v)) }

// LeF is whether a float is at most v.
func (x Reg[T]) LeF(v float64) Reg[Pred] { return x.Le(likeF(x, v)) }

// GtF is whether a float is greater than v.
func (x Reg[T]) GtF(v float64) Reg[Pred] { return x.Gt(likeF(x, v)) }

// GeF is whether a float is at least v.
func (x Reg[T]) GeF(v float64) Reg[Pred] { return x.Ge(likeF(x, v)) }

// IsNaN is whether a float is no number.
func (x Reg[T]) IsNaN() Reg[Pred] { return comparison("nan", x, x) }

func comparison[T Scalar](how Mod, x, y Reg[T]) Reg[Pred] {
	k := either(x, y)
	if k == nil {
		return Reg[Pred]{}
	}
	t := TypeOf[T]()
	if t.Class() == isa.Pred {
		d := x.Xor(y)
		if how == "eq" {
			d = d.Not()
		}
		return Reg[Pred]{k: k, r: d.r, bits: d.bits, scope: d.scope}
	}
	switch {
	case !k.computes("a comparison", t):
		return fresh[Pred](k)
	case t == isa.Bf16 && !k.m.Has(90):
		return comparison(how, To[F32](x), To[F32](y)) // which holds all of them
	}
	p := fresh[Pred](k)
	k.ins(k.op("setp", t, how), p.in(k), x.in(k), y.in(k))
	return p
}

// Select is x where p holds, and y where it does not.
func Select[T Scalar](p Reg[Pred], x, y Reg[T]) Reg[T] {
	k := either(x, y)
	if k == nil {
		k = p.k
	}
	if k == nil {
		return x
	}
	d := fresh[T](k)
	t := TypeOf[T]()
	if !integer(t) && t.Class() != isa.Float {
		t = bits(t.Bits())
	}
	k.ins(k.op("selp", t), d.in(k), x.in(k), y.in(k), p.in(k))
	return d
}
