// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestMemory checks that a matcher with cached shapes gives the same results as a new one. The
// lists contain operands that differ in one property; some of them fit.
func TestMemory(t *testing.T) {
	r := func(t isa.Type) isa.Arg { return isa.Arg{Kind: isa.ArgReg, Type: t} }
	n := func(v int64) isa.Arg { return isa.Arg{Kind: isa.ArgInt, Value: v} }
	at := func(a ...isa.Arg) isa.Arg { return isa.Arg{Kind: isa.ArgAddress, Elems: a} }
	vec := func(a ...isa.Arg) isa.Arg { return isa.Arg{Kind: isa.ArgVector, Elems: a} }
	b32, b64, p := r(isa.B32), r(isa.B64), r(isa.Predicate)
	with := func(a isa.Arg, change func(*isa.Arg)) isa.Arg {
		change(&a)
		return a
	}
	part := func(text string) isa.Arg { return with(b32, func(a *isa.Arg) { a.Part = text }) }
	symbol := func(s isa.Space, t isa.Type) isa.Arg {
		return isa.Arg{Kind: isa.ArgSym, Space: s, Type: t}
	}
	target, _ := isa.ParseTarget("sm_90a")
	used := isa.NewMatcher(isa.Newest(), target)
	for _, x := range []struct {
		op    string
		lists [][]isa.Arg
	}{
		{"bar.sync", [][]isa.Arg{{n(15)}, {n(16)}, {n(0)}, {b32}, {n(1), n(32)}, {n(1), n(33)}}},
		{"add.u32", [][]isa.Arg{{b32, b32, b32}, {b32, b32, b64}, {b32, b32, n(7)}, {b32, b32},
			{n(7), b32, b32}, {b32, b32, b32, b32},
			{b32, with(b32, func(a *isa.Arg) { a.Plus = true }), b32},
			{with(b32, func(a *isa.Arg) { a.Plus = true }), b32, b32},
			{b32, with(b32, func(a *isa.Arg) { a.Minus = true }), b32},
			{b32, with(b32, func(a *isa.Arg) { a.Count = 2 }), b32}}},
		{"vadd.u32.u32.u32",
			[][]isa.Arg{{b32, part(".b0"), b32}, {b32, part(".b4"), b32}, {b32, part(".h1"), b32},
				{b32, part(".h10"), b32}, {b32, part(""), b32}}},
		{"vadd4.u32.u32.u32",
			[][]isa.Arg{{b32, part(".b3210"), b32, b32}, {b32, part(".b321000"), b32, b32},
				{b32, part(".b32100000"), b32, b32}}},
		{"ld.shared.u32",
			[][]isa.Arg{{b32, at(symbol(isa.Shared, isa.U32))},
				{b32, at(symbol(isa.Global, isa.U32))}, {b32, at(b64)},
				{b32, at(b64, b64)}, {b32, b64},
				{b32, with(at(b64), func(a *isa.Arg) { a.Unified = true })}}},
		{"ld.global.v2.u32",
			[][]isa.Arg{{vec(b32, b32), at(b64)}, {vec(b32, b32, b32), at(b64)},
				{vec(b32, p), at(b64)}, {vec(b32, vec(b32)), at(b64)}}},
		{"createpolicy.range.global.L2::evict_last.b64",
			[][]isa.Arg{{b64, at(b64), n(64), n(128)}, {b64, at(b64), n(128), n(64)},
				{b64, at(b64), b32, n(64)}}},
		{"selp.b32",
			[][]isa.Arg{{b32, b32, b32, p},
				{b32, b32, b32, with(p, func(a *isa.Arg) { a.Not = true })}}},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
			[][]isa.Arg{
				{at(b32), at(b64, vec(b32, b32)), at(b32)},
				{at(b32), at(with(b64, func(a *isa.Arg) { a.Value = 8 }), vec(b32, b32)),
					at(b32)}}},
	} {
		for range 2 {
			for i, args := range x.lists {
				form, problems := used.Match(x.op, args)
				fresh, want := isa.NewMatcher(isa.Newest(), target).Match(x.op, args)
				if diff := cmp.Diff(want, problems); diff != "" {
					t.Errorf("%s, list %d: problems differ (-fresh +used):\n%s", x.op, i, diff)
				}
				if (form == nil) != (fresh == nil) || form != nil && form.Form != fresh.Form {
					t.Errorf("%s, list %d: another form than a fresh matcher finds", x.op, i)
				}
			}
		}
	}
}

// TestManyShapes checks that shapes beyond the limit of the cache are matched correctly.
func TestManyShapes(t *testing.T) {
	target, _ := isa.ParseTarget("sm_90a")
	m := isa.NewMatcher(isa.Newest(), target)
	for i := range 200 {
		n := int64(i * 7 % 24)
		if ok := m.Check("bar.sync",
			[]isa.Arg{{Kind: isa.ArgInt, Value: n}}) == nil; ok != (n < 16) {
			t.Errorf("bar.sync %d: accepted: %t", n, ok)
		}
	}
}
