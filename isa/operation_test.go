// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestOperation checks the typed values of opcodes.
func TestOperation(t *testing.T) {
	target, _ := ParseTarget("sm_90a")
	m := NewMatcher(Newest(), target)
	for _, test := range []struct {
		op   string
		want Operation
	}{
		{"add.sat.s32", Operation{Kind: KindAdd, Vec: 1, Types: []Type{S32}}},
		{"ld.acquire.gpu.global.v4.f32",
			Operation{Kind: KindLd, Space: Global, Order: Acquire, Scope: ScopeGPU, Vec: 4,
				Types: []Type{F32}}},
		{"ld.volatile.shared.u8",
			Operation{Kind: KindLd, Space: Shared, Order: Volatile, Vec: 1, Types: []Type{U8}}},
		{"cp.async.cg.shared.global",
			Operation{Kind: KindCpAsync, Space: Shared, From: Global, Vec: 1}},
		{"bar.sync", Operation{Kind: KindBarrierSync, Vec: 1}},
		{"barrier.cta.sync.aligned", Operation{Kind: KindBarrierSync, Vec: 1}},
		{"membar.gl", Operation{Kind: KindFence, Scope: ScopeGPU, Vec: 1}},
		{"cvt.rn.f16x2.f32", Operation{Kind: KindCvt, Vec: 1, Types: []Type{F16x2, F32}}},
	} {
		list, problems := m.Candidates(test.op)
		if len(list) == 0 {
			t.Errorf("%s: %v", test.op, problems)
			continue
		}
		if diff := cmp.Diff(test.want, list[0].Operation(),
			cmpopts.IgnoreUnexported(Operation{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.op, diff)
		}
	}
	list, _ := m.Candidates("barrier.cta.sync.aligned")
	if op := list[0].Operation(); !op.Has(ModAligned) || op.Has(ModGlobal) ||
		ModAligned.String() != ".aligned" {
		t.Errorf("modifiers of barrier.cta.sync.aligned: %v", op.Mods())
	}
}

// TestKinds checks that each form has a kind with a name.
func TestKinds(t *testing.T) {
	for ins := range Standard().All() {
		for i := range ins.Forms {
			if k := ins.Forms[i].Kind; k == NoKind || k.String() == "" || int(k) >= Kinds() {
				t.Errorf("%s has no kind", ins.Forms[i].Template)
			}
		}
	}
}

// TestKindOf checks the kinds, heads and modifiers of opcodes that have no form.
func TestKindOf(t *testing.T) {
	for _, test := range []struct {
		op   string
		kind Kind
		head Head
	}{
		{"mul.lo.u32", KindMulLo, HeadMul},
		{"cp.async.bulk.tensor.2d", KindCpAsyncBulkTensor, HeadCp},
		{"bar.sync", KindBarrierSync, HeadBarrier},
		{"membar.gl", KindFence, HeadFence},
		{"ld", KindLd, HeadLd},
		{".loc", NoKind, NoHead},
		{"addd.u32", NoKind, NoHead},
		{"", NoKind, NoHead},
	} {
		if k := KindOf(test.op); k != test.kind || k.Head() != test.head {
			t.Errorf("%q has the kind %v with head %v; want %v, %v", test.op, k, k.Head(),
				test.kind, test.head)
		}
	}
	if Kind(60000).Head() != NoHead || HeadMbarrier.String() != "mbarrier" ||
		Head(255).String() != "" {
		t.Error("names of heads")
	}
	for op, want := range map[string][]Mod{
		"ld.global.nope.f32": {ModGlobal, ModF32}, "fma.f16x2.f16": {ModF16x2, ModF16},
		"mov.b8": {ModB8}, ".loc": nil, "ret": nil, "": nil,
	} {
		if got := ModsOf(op); !slices.Equal(got, want) {
			t.Errorf("modifiers of %q: %v, want %v", op, got, want)
		}
	}
	if ModF32.Type() != F32 || ModF32.Space() != Generic || ModSharedCTA.Space() != SharedCTA ||
		ModSharedCTA.Type() != 0 {
		t.Error("types and spaces of modifiers")
	}
	if ModV4.Elements() != 4 || ModX4.Elements() != 0 || ModX32.Times() != 32 ||
		ModX128.Times() != 128 || ModV4.Times() != 0 {
		t.Error("counts of modifiers")
	}
}
