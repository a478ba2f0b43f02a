// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// TestMeets compares accesses of all threads of a 64-thread block to the same variable and to
// different ones.
func TestMeets(t *testing.T) {
	p := value.NewPool(64, 1, 1, true)
	variable := func(name string) *value.Value {
		return p.Atom(64, value.OpVariable, name, &ir.Var{Name: name, Space: isa.Shared},
			value.Block)
	}
	a, b := variable("a"), variable("b")
	pointer := p.Atom(64, value.OpParameter, "p", nil, value.Block)
	tid := p.Special("%tid.x", 64)
	rank := p.Atom(64, value.OpRem, "", nil, value.Block, pointer, p.Const(64, 4))
	rank.Single().Bounded, rank.Single().High = true, 3
	at := func(base *value.Value, terms ...*value.Value) *value.Value {
		for _, v := range terms {
			base = p.Add(64, base, v)
		}
		return base
	}
	k := func(n int64) *value.Value { return p.Const(64, n) }
	of := func(v *value.Value, bytes int64, s value.Set) memory.Region {
		r, ok := memory.Of(p, v, bytes, s)
		if !ok {
			t.Fatalf("%+v is nowhere", v)
		}
		return r
	}
	all, low := p.All(), value.First(32)
	for _, test := range []struct {
		name        string
		x, y        memory.Region
		sure, maybe bool
	}{
		{"one place", of(a, 4, all), of(a, 4, all), true, true},
		{"side by side", of(a, 16, all), of(at(a, k(16)), 16, all), false, false},
		{"another variable", of(a, 16, all), of(b, 16, all), false, false},
		{"a pointer", of(a, 16, all), of(pointer, 16, all), false, true},
		{"a row of threads and a tile", of(at(a, p.Scale(64, tid, 4)), 4, all),
			of(at(a, k(252)), 16, all), true, false},
		{"the row of half the threads", of(at(a, p.Scale(64, tid, 4)), 4, low),
			of(at(a, k(252)), 16, all), false, false},
		{"between the places of threads", of(at(a, p.Scale(64, tid, 16)), 4, all),
			of(at(a, k(20)), 4, all), false, false},
		{"two rows that interleave", of(at(a, p.Scale(64, tid, 8)), 4, all),
			of(at(a, p.Scale(64, tid, 8), k(4)), 4, all), false, false},
		{"two rows that meet", of(at(a, p.Scale(64, tid, 8)), 8, all),
			of(at(a, p.Scale(64, tid, 8), k(4)), 4, all), true, false},
		{"somewhere in a range", of(at(a, p.Scale(64, rank, 16)), 16, all),
			of(at(a, k(32)), 16, all), false, true},
	} {
		for range 2 {
			sure, maybe := test.x.Meets(&test.y)
			if sure != test.sure || maybe != test.maybe && !sure {
				t.Errorf("%s: %v, %v, want %v, %v", test.name, sure, maybe, test.sure, test.maybe)
			}
			test.x, test.y = test.y, test.x
		}
	}
	own, shifted := of(at(a, p.Scale(64, tid, 16)), 4, all),
		of(at(a, p.Scale(64, tid, 16), k(16)), 4, all)
	copied := of(at(a, p.Scale(64, tid, 16)), 16, all)
	if own.Foreign(&copied, 1) || !shifted.Foreign(&copied, 1) {
		t.Error("bytes of a thread's own are foreign, or those of its neighbor are not")
	}
	if _, ok := memory.Of(p, k(64), 4, all); ok {
		t.Error("an address without a base has a region")
	}
}

// TestDescriptor checks the address found in a matrix descriptor.
func TestDescriptor(t *testing.T) {
	p := value.NewPool(128, 1, 1, true)
	base := p.Atom(64, value.OpVariable, "tile", &ir.Var{Name: "tile", Space: isa.Shared},
		value.Block)
	base.Single().Zeros = 10
	start := p.Add(32, p.Resize(32, base, true), p.Const(32, 4096))
	v := p.Binary(value.OpShr, 32, start, p.Const(32, 4))
	v = p.Binary(value.OpAnd, 32, v, p.Const(32, 0x3fff))
	v = p.Resize(64, v, false)
	v = p.Binary(value.OpOr, 64, v, p.Const(64, 0x4000004000010000))
	for step := range int64(3) {
		got, ok := memory.Descriptor(p, p.Add(64, v, p.Const(64, 2*step)))
		if want := p.Add(64, base, p.Const(64, 4096+32*step)); !ok || got != want {
			t.Errorf("%d steps on: %+v, want %+v", step, got, want)
		}
	}
	bare := p.Binary(value.OpOr, 64,
		p.Resize(64, p.Binary(value.OpShr, 32, start, p.Const(32, 4)), false),
		p.Const(64, 0x4000004000010000))
	if got, ok := memory.Descriptor(p, bare); !ok || got != p.Add(64, base, p.Const(64, 4096)) {
		t.Errorf("not masked: %+v", got)
	}
	if _, ok := memory.Descriptor(p, p.Atom(64, value.OpLoad, "d", nil, value.Block)); ok {
		t.Error("an address in a descriptor that was loaded")
	}
}

func TestBytes(t *testing.T) {
	for op, want := range map[string]int64{"ld.shared.b32": 4, "st.shared.v4.f32": 16,
		"ld.shared.u8": 1, "ldmatrix.sync.aligned.m8n8.x4.shared.b16": 16, "st.shared.v2.b64": 16} {
		if got := memory.Bytes(&ir.Instr{Op: op}); got != want {
			t.Errorf("%s: %d bytes, want %d", op, got, want)
		}
	}
}
