// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// random returns a T without a device.
func random() *T { return &T{Rand: rand.New(rand.NewPCG(1, 2))} }

// says checks that an error contains words, or is nil if words is "".
func says(t *testing.T, err error, words string) {
	t.Helper()
	if words == "" && err != nil ||
		words != "" && (err == nil || !strings.Contains(err.Error(), words)) {
		t.Errorf("got %v, want %q", err, words)
	}
}

func TestCompare(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		got, want []float32
		tolerance Tolerance
		words     string
	}{
		{[]float32{1, 2}, []float32{1, 2}, Tolerance{}, ""},
		{[]float32{1, 2}, []float32{1, 2.001}, Abs(1.1e-3), ""},
		{[]float32{1, 2}, []float32{1, 2.001}, Abs(0.9e-3),
			"x: 1 of 2 elements are wrong; the worst is [1]: got 2, want 2.00099993, error 0.001, allowed 0.0009"},
		{[]float32{1000}, []float32{1000.9}, Rel(1e-3), ""},
		{[]float32{0.001}, []float32{0.002}, Rel(1e-3), "1 of 1"},
		{[]float32{1, 2, 3}, []float32{1, 3, 5}, Abs(1),
			"x: 1 of 3 elements are wrong; the worst is [2]: got 3, want 5, error 2, allowed 1"},
		{[]float32{1}, []float32{1, 2}, Abs(1), "x: 1 elements, want 2"},
		{[]float32{nan, inf, -inf}, []float32{nan, inf, -inf}, Tolerance{}, ""},
		{[]float32{nan}, []float32{0}, Abs(math.Inf(1)), "got NaN, want 0"},
		{[]float32{0}, []float32{nan}, Abs(1e9), "1 of 1"},
		{[]float32{inf}, []float32{0}, Abs(0.01), "got +Inf, want 0, error +Inf, allowed 0.01"},
		{[]float32{inf}, []float32{math.MaxFloat32}, Rel(1), "1 of 1"},
		{[]float32{-inf}, []float32{inf}, Rel(1), "1 of 1"},
		{[]float32{1 + 0x1p-23}, []float32{1}, F32.ULPs(1), ""},
		{[]float32{1 + 0x1p-22}, []float32{1}, F32.ULPs(1), "1 of 1"},
		{[]float32{0x1p-149}, []float32{0}, F32.ULPs(1), ""},
		{[]float32{0x1p-148}, []float32{0}, F32.ULPs(1), "1 of 1"},
		{[]float32{2, 1}, []float32{2.25, 1}, Abs(0.25).Plus(BF16.ULPs(1)), ""},
	} {
		says(t, Compare(random(), "x", c.got, c.want, c.tolerance), c.words)
	}
	// Integers whose difference float64 cannot represent.
	says(t, Equal(random(), "x", []uint64{1 << 63}, []uint64{1<<63 + 1}), "1 of 1")
	says(t, Equal(random(), "x", []uint32{7}, []uint32{7}), "")
	says(t, Equal(random(), "x", []float32{nan}, []float32{nan}), "")
	var m *Mismatch
	if err := Compare(random(), "x", []float32{1}, []float32{2}, Tolerance{}); !errors.As(err,
		&m) || m.Result.Want != 2 {
		t.Errorf("got %v, want a *Mismatch", err)
	}
}

func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		tolerance Tolerance
		want      float64
	}{
		{Abs(1).Sum(16), 4},
		{Abs(1).RoundedEvery(4).Sum(16), 8},
		{Abs(1).TruncatedEvery(4).Sum(16), 16},
		{Abs(1).TruncatedEvery(32).Sum(16), 4},
		{Abs(1).Plus(Rel(0.5)), 2},
	} {
		if got := c.tolerance.Allows(-2); got != c.want {
			t.Errorf("%v allows %v, want %v", c.tolerance, got, c.want)
		}
	}
	if got, want := Abs(0.5).TruncatedEvery(4).Plus(F16.ULPs(0.5)).Sum(9).String(),
		"0.5·√K·K/4 + 0.5 ulp"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTight checks that a loose tolerance is reported, judged by the run with the largest error.
func TestTight(t *testing.T) {
	run := func(difference float64, k int) DeviceRun {
		r := random()
		says(t, Compare(r, "x", []float64{0}, []float64{difference}, Abs(1).Sum(k)), "")
		return DeviceRun{Results: r.Results()}
	}
	for _, c := range []struct {
		runs  Runs
		loose bool
	}{
		{Runs{run(0.3, 1)}, false},
		{Runs{run(0.2, 1)}, true},
		{Runs{run(0.2, 1), run(3, 100)}, false}, // 3 of 10 is more than a quarter
		{Runs{run(0, 1)}, true},
	} {
		var spy recorder
		c.runs.Tight(&spy, 4)
		if spy.failed != c.loose && !testing.Short() {
			t.Errorf("%v: loose is %v, want %v", c.runs, spy.failed, c.loose)
		}
	}
}

// A recorder is a testing.TB that records whether it fails.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Failed() bool          { return false }
func (r *recorder) Errorf(string, ...any) { r.failed = true }

// TestCompareGEMM checks that one wrong element in a corner is detected, and a wrong tile of a
// large product.
func TestCompareGEMM(t *testing.T) {
	r := random()
	g := GEMM{M: 64, N: 96, K: 32}
	as, bs := r.Float32s(g.M*g.K), r.Float32s(g.N*g.K)
	a := func(row, k int) float64 { return float64(as[row*g.K+k]) }
	b := func(col, k int) float64 { return float64(bs[col*g.K+k]) }
	product := func(row, col int) float64 {
		var sum float64
		for k := range g.K {
			sum += a(row, k) * b(col, k)
		}
		return sum
	}
	says(t, r.CompareGEMM(g, product, a, b, Abs(1e-9)), "")
	says(t, r.CompareGEMM(g, func(row, col int) float64 {
		if row == g.M-1 && col == g.N-1 {
			return product(row, col) + 0.01
		}
		return product(row, col)
	}, a, b, Abs(1e-3)), "of 4004 elements are wrong; the worst is [63 95]")
	says(t, r.CompareGEMM(g, func(row, col int) float64 {
		if row/16 == 2 && col/16 == 3 { // this tile lacks the last K step
			return product(row, col) - a(row, g.K-1)*b(col, g.K-1)
		}
		return product(row, col)
	}, a, b, Abs(1e-3)), "elements are wrong")
	says(t, r.CompareGEMM(g, func(int, int) float64 { return math.NaN() }, a, b, Abs(1)),
		"4004 of 4004")
}

// TestFormats checks that decoding and encoding are inverse, and some values of each format.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		typ  isa.Type
		code uint8
		want float64
	}{
		{isa.E2m1, 7, 6}, {isa.E2m1, 1, 0.5}, {isa.E2m1, 0b1010, -1}, {isa.E2m3, 31, 7.5},
		{isa.E2m3, 1, 0.125},
		{isa.E3m2, 31, 28}, {isa.E3m2, 0b101100, -1}, {isa.E3m2, 1, 1.0 / 16},
		{isa.E4m3, 0x7e, 448},
		{isa.E4m3, 1, 1.0 / 512}, {isa.E4m3, 0xb8, -1}, {isa.Ue8m0, 127, 1},
		{isa.Ue8m0, 0, 0x1p-127}, {isa.Ue4m3, 0x38, 1},
		{isa.E5m2, 0x3c, 1}, {isa.E5m2, 0x7b, 57344}, {isa.E5m2, 0xfc, math.Inf(-1)},
		{isa.E5m2, 1, 0x1p-16},
	} {
		f := Narrow(c.typ)
		if got := f.Float(c.code); got != c.want {
			t.Errorf("%s %#x is %v, want %v", c.typ, c.code, got, c.want)
		}
		if got := f.From(c.want); got != c.code {
			t.Errorf("%v in %s is %#x, want %#x", c.want, c.typ, got, c.code)
		}
	}
	for _, code := range []uint8{0x7f, 0xff} {
		if got := Narrow(isa.E4m3).Float(code); !math.IsNaN(got) {
			t.Errorf(".e4m3 %#x is %v, want NaN", code, got)
		}
	}
	if got := Narrow(isa.Ue8m0).Float(255); !math.IsNaN(got) {
		t.Errorf(".ue8m0 0xff is %v, want NaN", got)
	}
	if got := TF32.Float(TF32.From(1.0001)); got != 1 {
		t.Errorf("1.0001 in TF32 is %v", got)
	}
	for _, c := range []struct {
		x    float64
		want int8
	}{{-1000, -128}, {1000, 127}, {2.6, 3}, {math.NaN(), -128}} {
		if got := S8.From(c.x); got != c.want {
			t.Errorf("%v in S8 is %d, want %d", c.x, got, c.want)
		}
	}
}

// TestRandom checks ranges, edges and packed integers.
func TestRandom(t *testing.T) {
	r := random()
	for _, x := range Random(r, F16.Within(2, 3), 1000) {
		if v := x.Float32(); v < 2 || v > 3 {
			t.Fatalf("%v is not from 2 to 3", v)
		}
	}
	seen := make(map[uint16]bool)
	for _, x := range RandomEdges(r, BF16, 200) {
		seen[uint16(x)] = true
	}
	for _, x := range BF16.Edges() {
		if !seen[uint16(x)] {
			t.Errorf("%#x does not occur", uint16(x))
		}
	}
	if got := len(RandomEdges(r, BF16, 3)); got != 3 {
		t.Errorf("%d elements, want 3", got)
	}
	matrix := EdgeMatrix(r, 15, 9, BF16, 1)
	for i, want := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0x1.fep127, -0x1.fep127,
		0x1p-133, 0} {
		var others int
		got := 0.0
		for col := range 9 {
			if x := matrix.value(1+2*i, col); x != 0 {
				got, others = x, others+1
				if col%2 != 1 {
					t.Errorf("edge value %v in column %d", x, col)
				}
			}
		}
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || others > 1 {
			t.Errorf("row %d has %d elements such as %v, want one of %v", 1+2*i, others, got, want)
		}
	}
	if got := len(Narrow(isa.E4m3).extremes()); got != 5 {
		t.Errorf("%d extremes of e4m3, want 5", got)
	}
	m := RandomPacked(r, 4, 16, 4, func(x uint8) int { return int(int8(x<<4) >> 4) })
	values := make(map[float64]bool)
	for row := range m.Rows {
		for col := range m.Cols {
			v := m.value(row, col)
			if values[v] = true; v < -8 || v > 7 {
				t.Errorf("%v in four bits", v)
			}
		}
	}
	if len(values) < 12 {
		t.Errorf("%d of 16 values occur among 64", len(values))
	}
}

// scale builds a kernel that doubles n elements, or by mistake n+1.
func scale(m *dsl.Module) {
	k := m.Kernel("scale", dsl.Threads(64))
	x, y, n := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y"), dsl.Param[dsl.U32](k, "n")
	i := k.CTAID().X.Mad(k.NTID().X, k.TID().X)
	k.If(i.LT(n), func() { y.Store(i, x.Load(i).MulF(2)) })
}

// TestLaunch checks arguments and results, and that the emulator reports out-of-bounds accesses.
func TestLaunch(t *testing.T) {
	r := Open(t, "emu:sm_80")
	k, err := r.Kernel("scale", scale)
	if err != nil {
		t.Fatal(err)
	}
	x, y := []float32{1, 2, 3, 4, 5}, make([]float32, 5)
	says(t, r.Launch(k, runtime.Threads(5), In(x), Out(y), 5), "")
	says(t, Equal(r, "y", y, []float32{2, 4, 6, 8, 10}), "")
	both := InOut(x)
	says(t, r.Launch(k, runtime.Threads(5), both, both, 5), "")
	says(t, Equal(r, "x", x, []float32{2, 4, 6, 8, 10}), "")
	if err := r.Launch(k, runtime.Threads(6), In(make([]float32, 6)), Out(y), 6); err == nil {
		t.Error("a store after the end is not found")
	}
	says(t, r.Launch(k, runtime.Threads(5), In(x), Out(y)), "takes 3 arguments")
}

// TestSkip checks the result on a device that lacks a feature.
func TestSkip(t *testing.T) {
	r := Open(t, "emu:sm_80")
	err := r.Needs("clusters", 90, 0)
	says(t, err, "clusters requires sm_90 or later, and the device is sm_80")
	if !errors.Is(err, ErrSkip) {
		t.Error("not a skip")
	}
	says(t, r.Needs("cp.async", 80, 0), "")
	says(t, r.Needs("old things", 50, 80), "exists only before sm_80")
	if got := r.Lengths(1<<30, 5, 1<<20); len(got) != 2 || got[1] != 5 {
		t.Errorf("got %v", got)
	}
}
