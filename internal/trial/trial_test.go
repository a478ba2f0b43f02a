// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
)

func says(t *testing.T, err error, words string) {
	t.Helper()
	if words == "" && err != nil || words != "" && (err == nil || !strings.Contains(err.Error(), words)) {
		t.Errorf("%v; %q is expected", err, words)
	}
}

// TestNear holds the judge of the examples.
func TestNear(t *testing.T) {
	nan := float32(math.NaN())
	says(t, Near("x", []float32{1, 2}, []float32{1, 2.001}, 1e-3), "")
	says(t, Near("x", []float32{1000}, []float32{1000.9}, 1e-3), "") // relative to the size above one
	says(t, Near("x", []float32{0.001}, []float32{0.0005}, 1e-3), "")
	says(t, Near("x", []float32{1, 2, 3}, []float32{1, 3, 5}, 1e-3), "x: 2 of 3 results are wrong; the worst is number 2: 3, not 5")
	says(t, Near("x", []float32{1}, []float32{1, 2}, 1), "1 results, not 2")
	says(t, Near("x", []float32{nan}, []float32{0}, 1e9), "number 0: NaN, not 0")
	says(t, Near("x", []float32{0}, []float32{nan}, 1e9), "1 of 1")
	says(t, Same("x", []uint32{1 << 31}, []uint32{1<<31 + 1}), "1 of 1")
	says(t, Same("x", []uint32{7}, []uint32{7}), "")
}

// TestHolds holds that one wrong element in a corner is found, and that of many wrong ones some are.
func TestHolds(t *testing.T) {
	trial := &T{Rand: rand.New(rand.NewPCG(1, 2))}
	p := Product{M: 64, N: 96, K: 32}
	as, bs := trial.Floats(p.M*p.K), trial.Floats(p.N*p.K)
	a := func(row, k int) float64 { return float64(as[row*p.K+k]) }
	b := func(col, k int) float64 { return float64(bs[col*p.K+k]) }
	product := func(row, col int) float64 {
		var sum float64
		for k := range p.K {
			sum += a(row, k) * b(col, k)
		}
		return sum
	}
	says(t, trial.Holds(p, product, a, b, 1e-6), "")
	corner := func(row, col int) float64 {
		if row == p.M-1 && col == p.N-1 {
			return product(row, col) + 0.01
		}
		return product(row, col)
	}
	says(t, trial.Holds(p, corner, a, b, 1e-3), "64x96x32: element 63, 95 is")
	tile := func(row, col int) float64 {
		if row/16 == 2 && col/16 == 3 { // one tile of 24 forgot its last step
			return product(row, col) - a(row, p.K-1)*b(col, p.K-1)
		}
		return product(row, col)
	}
	says(t, trial.Holds(p, tile, a, b, 1e-3), "element")
	says(t, trial.Holds(p, func(int, int) float64 { return math.NaN() }, a, b, 1), "element 0, 0 is NaN")
}

// TestRounding holds that numbers are rounded along with what is made of them, so that references see what kernels do.
func TestRounding(t *testing.T) {
	xs := []float32{0.1, -3.3}
	for i, h := range F16(xs) {
		if h.Float32() != xs[i] || runtime.ToF16(xs[i]) != h {
			t.Error(i, h, xs[i])
		}
	}
	ys := []float32{0.1, -3.3}
	for i, h := range BF16(ys) {
		if h.Float32() != ys[i] || ys[i] == xs[i] {
			t.Error(i, h, ys[i])
		}
	}
	if err := Skip("no %s", "GPU"); !errors.Is(err, ErrSkip) || !strings.Contains(err.Error(), "no GPU") {
		t.Error(err)
	}
}

// TestKinds holds that numbers are worth what they say.
func TestKinds(t *testing.T) {
	for _, c := range []struct{ x, want float32 }{{0, 0}, {1, 1}, {-1, -1}, {0.5, 0.5}, {-0.25, -0.25}, {0.01, 0.125}, {0.8, 1}} {
		if got := E4M3.Worth(E4M3.Near(c.x)); got != float64(c.want) {
			t.Errorf("%v is %v in e4m3; %v is expected", c.x, got, c.want)
		}
	}
	if got := TF32.Worth(TF32.Near(1.0001)); got != 1 {
		t.Error("tf32 keeps ten bits:", got)
	}
	trial := &T{Rand: rand.New(rand.NewPCG(1, 2))}
	m := RandomBits(trial, 4, 16, 4, func(x uint8) int { return int(int8(x<<4) >> 4) })
	seen := make(map[float64]bool)
	for row := range m.Rows {
		for col := range m.Cols {
			seen[m.worth(row, col)] = true
		}
	}
	for x := range seen {
		if x < -8 || x > 7 {
			t.Errorf("%v in four bits", x)
		}
	}
	if len(seen) < 12 {
		t.Errorf("of 16 integers of four bits %d occur among 64", len(seen))
	}
}
