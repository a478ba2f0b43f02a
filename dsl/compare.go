// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// EQ reports whether x == y.
func (x Reg[T]) EQ(y Reg[T]) Reg[Pred] { return comparison("eq", x, y) }

// NE reports whether x differs from y. For floats it is false if either is NaN.
func (x Reg[T]) NE(y Reg[T]) Reg[Pred] { return comparison("ne", x, y) }

// LT reports whether x < y.
func (x Reg[T]) LT(y Reg[T]) Reg[Pred] { return comparison("lt", x, y) }

// LE reports whether x <= y.
func (x Reg[T]) LE(y Reg[T]) Reg[Pred] { return comparison("le", x, y) }

// GT reports whether x > y.
func (x Reg[T]) GT(y Reg[T]) Reg[Pred] { return comparison("gt", x, y) }

// GE reports whether x >= y.
func (x Reg[T]) GE(y Reg[T]) Reg[Pred] { return comparison("ge", x, y) }

// EQI reports whether x == n.
func (x Reg[T]) EQI(n int64) Reg[Pred] { return x.EQ(like(x, n)) }

// NEI reports whether x differs from n.
func (x Reg[T]) NEI(n int64) Reg[Pred] { return x.NE(like(x, n)) }

// LTI reports whether x < n.
func (x Reg[T]) LTI(n int64) Reg[Pred] { return x.LT(like(x, n)) }

// LEI reports whether x <= n.
func (x Reg[T]) LEI(n int64) Reg[Pred] { return x.LE(like(x, n)) }

// GTI reports whether x > n.
func (x Reg[T]) GTI(n int64) Reg[Pred] { return x.GT(like(x, n)) }

// GEI reports whether x >= n.
func (x Reg[T]) GEI(n int64) Reg[Pred] { return x.GE(like(x, n)) }

// EQF reports whether x == v.
func (x Reg[T]) EQF(v float64) Reg[Pred] { return x.EQ(likeF(x, v)) }

// LTF reports whether x < v.
func (x Reg[T]) LTF(v float64) Reg[Pred] { return x.LT(likeF(x, v)) }

// LEF reports whether x <= v.
func (x Reg[T]) LEF(v float64) Reg[Pred] { return x.LE(likeF(x, v)) }

// GTF reports whether x > v.
func (x Reg[T]) GTF(v float64) Reg[Pred] { return x.GT(likeF(x, v)) }

// GEF reports whether x >= v.
func (x Reg[T]) GEF(v float64) Reg[Pred] { return x.GE(likeF(x, v)) }

// IsNaN reports whether x is NaN.
func (x Reg[T]) IsNaN() Reg[Pred] { return comparison("nan", x, x) }

func comparison[T Scalar](how Mod, x, y Reg[T]) Reg[Pred] {
	k := kernelOf(x, y)
	if k == nil {
		return Reg[Pred]{}
	}
	t := TypeOf[T]()
	if t.Class() == isa.Pred {
		d := x.Xor(y)
		if how.isaMod() == isa.ModEQ {
			d = d.Not()
		}
		return Reg[Pred]{k: k, r: d.r, bits: d.bits, scope: d.scope}
	}
	switch {
	case !k.hasArithmetic("comparison", t):
		return fresh[Pred](k)
	case t == isa.Bf16 && !k.m.Has(90):
		return comparison(how, To[F32](x), To[F32](y)) // F32 represents all values of both types
	}
	p := fresh[Pred](k)
	k.ins(k.op("setp", t, how), p.in(k), x.in(k), y.in(k))
	return p
}

// Select returns x if p is true, and y otherwise.
func Select[T Scalar](p Reg[Pred], x, y Reg[T]) Reg[T] {
	k := kernelOf(x, y)
	if k == nil {
		k = p.k
	}
	if k == nil {
		return x
	}
	d := fresh[T](k)
	t := TypeOf[T]()
	if !isInteger(t) && t.Class() != isa.Float || t.Bits() < 16 {
		// 8-bit values are held in 16-bit registers, and selp has no 8-bit form
		t = bits(max(t.Bits(), 16))
	}
	k.ins(k.op("selp", t), d.in(k), x.in(k), y.in(k), p.in(k))
	return d
}
