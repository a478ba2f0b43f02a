// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// combineLanes applies combine to the values of two lanes. It reports a combine function that
// ignores one of its arguments, or whose operation is not associative: the final result would be
// wrong.
func combineLanes[T Scalar](call string, combine func(a, b Reg[T]) Reg[T], a, b Reg[T]) Reg[T] {
	k := a.k
	if k == nil || a.r == nil || b.r == nil || a.r == b.r {
		return combine(a, b)
	}
	first, second := a.r.Uses, b.r.Uses
	x := combine(a, b)
	if x.k != k {
		return x // reported where x is used
	}
	which := ""
	switch {
	case a.r.Uses == first && x.r != a.r, x.r == b.r:
		which = "first"
	case b.r.Uses == second && x.r != b.r, x.r == a.r:
		which = "second"
	default:
		k.checkAssociative(call, x.r, a.r, b.r)
		return x
	}
	k.warn(k.m.calls.Here(),
		"combine function of %s ignores its %s argument, so the result does not depend on all lanes",
		call, which)
	return x
}

// checkAssociative warns if the call combines values with an operation that is not associative.
func (k *Kernel) checkAssociative(call string, x, a, b *ir.Reg) {
	switch head := k.operationOf(x, a, b); head {
	case isa.HeadSub, isa.HeadDiv, isa.HeadRem, isa.HeadShl, isa.HeadShr:
		k.warn(k.m.calls.Here(),
			"combine function of %s uses %s, which is not associative; use an operation such as add, max or bitwise or",
			call, head)
	}
}

// operationOf returns the head of the instruction that has just computed x from a and b, or
// isa.NoHead.
func (k *Kernel) operationOf(x, a, b *ir.Reg) isa.Head {
	if k.cur == nil {
		return isa.NoHead
	}
	for in := range k.order.Backward(k.cur) {
		if len(in.Args) != 3 || in.Args[0].Kind != ir.Register || in.Args[0].Reg != x {
			return isa.NoHead
		}
		if p, q := in.Args[1].Reg, in.Args[2].Reg; p == a && q == b || p == b && q == a {
			return in.Kind().Head()
		}
		return isa.NoHead
	}
	return isa.NoHead
}
