// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// edges are operands at the ends of the ranges of integers.
var edges = []uint64{0, 1, 2, 7, 15, 16, 31, 32, 33, 63, 64, 255, 256, 1<<15 - 1, 1 << 15,
	1<<16 - 1, 1<<31 - 1, 1 << 31,
	1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 2, 1<<64 - 1}

// TestScalar compares the constant evaluator with the loops over lanes that the emulator runs, for
// each opcode, on edge cases and random operands.
func TestScalar(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 1))
	integers, without := 0, make(map[string]int)
	for _, s := range spellings() {
		op, err := Of(s.form.Kind, s.mods)
		if err != nil {
			t.Errorf("%s: %v", s.opcode, err)
			continue
		}
		if op.Scalar == nil {
			without[s.name]++
			continue
		}
		whole := true
		for _, in := range op.In {
			whole = whole && isInt(in)
		}
		if whole {
			integers++
		}
		compareScalar(t, s.opcode, op, r)
	}
	for _, name := range []string{"add", "mul.lo", "mad.wide", "div", "bfe", "bfi", "lop3", "prmt",
		"setp", "selp", "shf.l", "cvt", "set", "and"} {
		all := 0
		for _, s := range spellings() {
			if s.name == name {
				all++
			}
		}
		if all == 0 || without[name] == all {
			t.Errorf("%s: none of %d opcodes has a Scalar", name, all)
		}
	}
	if integers < 300 {
		t.Errorf("only %d integer opcodes have a Scalar", integers)
	}
}

// compareScalar runs a warp with different operands in each lane, and each lane as a Scalar.
func compareScalar(t *testing.T, opcode string, op *Op, r *rand.Rand) {
	t.Helper()
	var f Frame
	var in [8]Vector
	var out [4]Vector
	for i := range op.In {
		f.In[i] = &in[i]
	}
	for i := range op.Out {
		f.Out[i] = &out[i]
	}
	for range 12 {
		for i := range op.In {
			for l := range Lanes {
				if in[i][l] = r.Uint64(); r.IntN(2) == 0 {
					in[i][l] = edges[r.IntN(len(edges))]
				}
			}
		}
		if opcode == "lop3.b32" {
			for l := range Lanes {
				in[3][l] = in[3][0] & 255 // one truth table for all lanes
			}
		}
		f.PIn = [2]uint32{r.Uint32(), r.Uint32()}
		op.Warp(&f)
		for l := range Lanes {
			var x [4]uint64
			for i := range op.In {
				x[i] = in[i][l]
			}
			for i := range op.PIn {
				x[len(op.In)+i] = uint64(f.PIn[i] >> l & 1)
			}
			want := out[0][l]
			if len(op.Out) == 0 {
				want = uint64(f.POut[0] >> l & 1)
			}
			if got := op.Scalar(x[0], x[1], x[2], x[3]); got != want {
				t.Fatalf("%s of %#x: %#x as a constant, %#x in a warp", opcode, x, got, want)
			}
		}
	}
}

// TestConstant checks the arguments and failures of Constant.
func TestConstant(t *testing.T) {
	const minus = ^uint64(0)
	for _, test := range []struct {
		kind isa.Kind
		mods []isa.Mod
		args []uint64
		want uint64
		ok   bool
	}{
		{isa.KindAdd, []isa.Mod{isa.ModS32}, []uint64{minus, 3}, 2, true},
		{isa.KindAdd, []isa.Mod{isa.NoMod, isa.ModSat, isa.ModS32}, []uint64{1<<31 - 1, 1},
			1<<31 - 1, true},
		{isa.KindAdd, []isa.Mod{isa.ModS32}, []uint64{1, 2, 3}, 0, false},
		{isa.KindAdd, []isa.Mod{isa.ModCC, isa.ModS32}, []uint64{1, 2}, 0, false},
		{isa.KindMadLo, []isa.Mod{isa.ModU32}, []uint64{3, 5, 7}, 22, true},
		{isa.KindDiv, []isa.Mod{isa.ModU32}, []uint64{7, 2}, 3, true},
		{isa.KindDiv, []isa.Mod{isa.ModU32}, []uint64{7, 1 << 32}, 0, false},
		{isa.KindRem, []isa.Mod{isa.ModS64}, []uint64{7, 0}, 0, false},
		{isa.KindDiv, []isa.Mod{isa.ModS32}, []uint64{1 << 31, minus}, 1 << 31, true},
		{isa.KindSetp, []isa.Mod{isa.ModLT, isa.ModS32}, []uint64{minus, 0}, 1, true},
		{isa.KindSetp, []isa.Mod{isa.ModLT, isa.ModU32}, []uint64{minus, 0}, 0, true},
		{isa.KindSelp, []isa.Mod{isa.ModB32}, []uint64{5, 6, 0}, 6, true},
		{isa.KindAnd, []isa.Mod{isa.ModPred}, []uint64{1, 1}, 1, true},
		{isa.KindLd, []isa.Mod{isa.ModB32}, []uint64{5}, 0, false},
		{isa.NoKind, nil, nil, 0, false},
	} {
		got, ok := Constant(test.kind, test.mods, test.args...)
		if got != test.want || ok != test.ok {
			t.Errorf("%s %v of %#x: %#x, %t; expected %#x, %t", test.kind, test.mods, test.args,
				got, ok, test.want, test.ok)
		}
	}
	if got := Extend(isa.S32, Plain(isa.KindSub, isa.S32)(1, 2, 0, 0)); got != -1 {
		t.Errorf("1 - 2 is %d", got)
	}
	if Plain(isa.KindLd, isa.S32) != nil {
		t.Error("a load is no arithmetic")
	}
	if Compare(isa.ModGE, isa.U64)(minus, 1, 0, 0) != 1 {
		t.Error("the largest number is less than 1")
	}
	mods, x := []isa.Mod{isa.ModS32}, uint64(5)
	if n := testing.AllocsPerRun(100, func() { x, _ = Constant(isa.KindAdd, mods, x, 1) }); n > 0 {
		t.Errorf("an evaluation makes %.0f allocations", n)
	}
}
