// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// oracleCombine computes what an atomic operation stores, for one element.
func oracleCombine(op, t string, modifiers []string, old, a, b uint64) uint64 {
	width := oracleTypes[t]
	q := &question{head: op, types: []string{t}, words: modifiers, in: []uint64{old, a}}
	_, float := oracleFormats[t]
	x, y := new(big.Int).SetUint64(old), new(big.Int).SetUint64(a)
	switch {
	case op == "exch":
		return a
	case op == "cas" && old == a:
		return b
	case op == "cas":
		return old
	case op == "inc" && x.Cmp(y) >= 0:
		return 0
	case op == "inc":
		return wrap(width, x.Add(x, big.NewInt(1)))
	case op == "dec" && (x.Sign() == 0 || x.Cmp(y) > 0):
		return a
	case op == "dec":
		return wrap(width, x.Sub(x, big.NewInt(1)))
	case op == "and":
		return x.And(x, y).Uint64()
	case op == "or":
		return x.Or(x, y).Uint64()
	case op == "xor":
		return x.Xor(x, y).Uint64()
	case float && op == "add":
		q.words = nil
		if t == "f32" && len(modifiers) == 0 {
			q.words = []string{"ftz"}
		}
		return q.floatElement(t, []string{t, t}, q.in)
	case float:
		return q.signElement(t, oracleFormats[t], q.in)
	case op == "add":
		return wrap(width, x.Add(number(t, old), number(t, a)))
	case (number(t, old).Cmp(number(t, a)) < 0) == (op == "max"):
		return a
	}
	return old
}

func TestCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, line := range []string{
		"add u32 s32 u64 f32 f64 f16 bf16 f16x2 bf16x2 s64", "add.noftz f32 f16 bf16 f16x2 bf16x2",
		"min u32 s32 u64 s64 f16 bf16 f16x2 bf16x2", "max u32 s32 u64 s64 f16 bf16 f16x2 bf16x2",
		"min.NaN f32", "max.NaN.abs f32", "max.abs f32", "min f32", "inc u32", "dec u32",
		"and b32 b64", "or b32 b64", "xor b32 b64", "exch b32 b64 f32", "cas b16 b32 b64",
	} {
		words := strings.Fields(line)
		parts := strings.Split(words[0], ".")
		for _, name := range words[1:] {
			typ, _ := isa.ParseType("." + name)
			f, err := CombineOf(spelledMod(parts[0]), typ, spelledMods(parts[1:])...)
			if err != nil {
				t.Error(err)
				continue
			}
			for range 400 {
				x := [3]uint64{operandBits(r, typ, 0), operandBits(r, typ, 0),
					operandBits(r, typ, 0)}
				if r.IntN(3) == 0 {
					x[1] = x[0]
				}
				if err := checkCombine(f, parts, name, x); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := CombineOf(isa.ModInc, isa.F32); err == nil {
		t.Error("inc of f32")
	}
}

func checkCombine(f Combine, parts []string, name string, x [3]uint64) error {
	element, n := splitType(name)
	width := oracleTypes[element]
	m := ^uint64(0) >> (64 - width)
	got := f(x[0], x[1], x[2])
	for i := range n {
		at := i * width
		want := oracleCombine(parts[0], element, parts[1:], x[0]>>at&m, x[1]>>at&m, x[2]>>at&m)
		if got>>at&m != want {
			return fmt.Errorf("%v.%s of %#x: %#x, element %d should be %#x", parts, name, x, got, i,
				want)
		}
	}
	return nil
}

func TestRedux(t *testing.T) {
	var x Vector
	for l := range x {
		x[l] = uint64(l + 1)
	}
	sum, _ := CombineOf(isa.ModAdd, isa.U32)
	if got := Redux(sum, &x, 1<<0|1<<3|1<<31); got != 1+4+32 {
		t.Errorf("the sum of lanes 0, 3 and 31 is %d", got)
	}
	least, _ := CombineOf(isa.ModMin, isa.S32)
	x[7] = 0xffff_fff0
	if got := Redux(least, &x, ^uint32(0)); got != 0xffff_fff0 {
		t.Errorf("the least is %#x", got)
	}
	if got := Redux(least, &x, 1<<9); got != 10 {
		t.Errorf("one lane alone: %d", got)
	}
	magnitude, err := ReduxOf(isa.ModMax, isa.F32, isa.ModAbs, isa.ModNaN)
	if err != nil {
		t.Fatal(err)
	}
	x[3], x[4] = 0xc000_0000, 0x7fc0_0001
	if got := magnitude(&x, 1<<3); got != 0x4000_0000 {
		t.Errorf("the magnitude of -2 is %#x", got)
	}
	if got := magnitude(&x, 1<<4); got != 0x7fff_ffff {
		t.Errorf("a NaN alone gives %#x", got)
	}
}

// TestPackedApproximations compares packed operations with the operation on each element, which the
// oracle covers.
func TestPackedApproximations(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, head := range []string{"ex2.approx.f16", "ex2.approx.ftz.bf16", "tanh.approx.f16",
		"tanh.approx.bf16"} {
		one, err := spelled(head)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := spelled(head + "x2")
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			x := operandBits(r, pair.In[0], 0)
			low, high, both := Cell{}, Cell{}, Cell{}
			low.In[0], high.In[0], both.In[0] = x&0xffff, x>>16, x
			one.Lane(&low)
			one.Lane(&high)
			pair.Lane(&both)
			if both.Out[0] != high.Out[0]<<16|low.Out[0] {
				t.Fatalf("%sx2 of %#x: %#x, want %#x and %#x", head, x, both.Out[0], high.Out[0],
					low.Out[0])
			}
		}
	}
}
