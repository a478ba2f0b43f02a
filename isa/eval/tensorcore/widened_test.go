// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// TestWidened compares mma of fp8 on Hopper with two published f16 sums and one f32 addition.
func TestWidened(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const depth = 32
	m := warpModel(Hopper, E4M3, depth)
	for range 300 {
		var a, b panel
		a.resize(1, depth, false)
		b.resize(1, depth, false)
		var x, y [2][]float64
		for k := range depth {
			p, q := r.Uint64()%0x7f, r.Uint64()%0x7f|r.Uint64()&0x80
			a.set(E4M3, 0, k, p)
			b.set(E4M3, 0, k, q)
			half := k / 2 % 2
			x[half], y[half] = append(x[half], E4M3.Decode(p)), append(y[half], E4M3.Decode(q))
		}
		c := math.Float32bits(float32(r.NormFloat64() * 1000))
		total := published(F16, x[0], y[0], 0, F32, 25, 23)
		total = published(F16, x[1], y[1], F32.Decode(total), F32, 25, 23)
		want := math.Float32bits(math.Float32frombits(c) + math.Float32frombits(uint32(total)))
		if got := m.dot(&a, &b, 0, 0, F32, uint64(c)); got != uint64(want) {
			t.Fatalf("%v * %v + %#x: %#x, want %#x", x, y, c, got, want)
		}
	}
}

// TestChained checks that chained rounds to f32 after every product, and to f16 once.
func TestChained(t *testing.T) {
	a, b := []float64{1, 1, 1, 1}, []float64{1, 0x1p-24, 0x1p-24, 0}
	if got := chained(a, b, F32, 0); got != 0x3f800000 {
		t.Errorf("f32: %#x", got) // each small product is lost
	}
	b = []float64{0x1p-24, 0x1p-24, 1, 0}
	if got := chained(a, b, F32, 0); got != 0x3f800001 {
		t.Errorf("f32, small products first: %#x", got)
	}
	one := eval.F16.Encode(1, eval.Nearest)
	if got := chained(a, []float64{0x1p-12, 0x1p-12, 0x1p-12, 0}, F16, one); got != one+1 {
		// 3/4 of a unit; rounding each product to f16 would lose them
		t.Errorf("f16: %#x", got)
	}
}

// TestUnselectedInfinity has an infinity in an element of B that the metadata do not select.
func TestUnselectedInfinity(t *testing.T) {
	m, err := spelled("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Hopper)
	if err != nil {
		t.Fatal(err)
	}
	var b, kept panel
	b.resize(1, 4, false)
	for k, code := range []uint64{0x3c00, 0x7c00, 0x3c00, 0x3c00} {
		b.set(F16, 0, k, code)
	}
	kept.gather(&b, []int32{0, 2}, 1, false)
	if kept.special[0] {
		t.Error("an element that is not selected counts")
	}
	kept.gather(&b, []int32{0, 1}, 1, false)
	if !kept.special[0] {
		t.Error("an element that is selected does not count")
	}
	if m.model.widened {
		t.Error("f16 needs no widening")
	}
}

// TestWhereWidened checks on which targets ptxas emits no fp8 MMA.
func TestWhereWidened(t *testing.T) {
	for sm, want := range map[int]bool{89: false, 90: true, 100: true, 103: true, 120: false} {
		m, err := spelled("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", ArchOf(sm))
		if err != nil {
			t.Fatal(err)
		}
		if m.model.widened != want {
			t.Errorf("sm_%d: widened %v", sm, m.model.widened)
		}
	}
	m, err := spelled("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
		ArchOf(120))
	if err != nil || m.model.widened {
		t.Errorf("kind::f8f6f4 is widened: %v", err)
	}
}
