// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// pretended returns a bench on a fake device, on which every event is 1.5 ms after the previous
// one.
func pretended(t *testing.T, rounds int) *Bench {
	t.Helper()
	d := fakecuda.New()
	d.Attributes = map[int]int{38: 1 << 20}
	l, err := d.Library()
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	dev := runtime.On(c)
	b, err := New(dev, rounds)
	if err != nil {
		t.Fatal(err)
	}
	b.Warm = 0
	if b.cold, err = b.cold.Slice(0, 1024); err != nil { // the fake memory is slow
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Close()
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestMeasure checks that contenders alternate, that each is first equally often, and that a
// failing one is left out.
func TestMeasure(t *testing.T) {
	b := pretended(t, 6)
	var order []string
	broken := errors.New("broken")
	contender := func(name string, err error) Contender {
		return Contender{name, func() error { order = append(order, name); return err }}
	}
	j := Job{Group: "g", Name: "n", Bytes: 3e9, Base: "b", Batch: 2,
		Contenders: []Contender{contender("a", nil), contender("b", nil), contender("c", broken)}}
	results, err := b.Measure(j)
	if err != nil {
		t.Fatal(err)
	}
	want := "aaa bbb c " + strings.Repeat("aabb bbaa aabb ", 2)
	want = strings.ReplaceAll(want, " ", "")
	// Three contenders, of which one fails: a b, b a, a b.
	if got := strings.Join(order, ""); got != want {
		t.Errorf("ran as %s, not %s", got, want)
	}
	for i := range results {
		results[i].Clock, results[i].Watt = 0, 0
	}
	expected := []Result{
		{Group: "g", Job: "n", Contender: "a", Base: "b", Micro: 750, Low: 750, High: 750,
			Rate: 4000, Unit: "GB/s", Ratio: 1},
		{Group: "g", Job: "n", Contender: "b", Base: "b", Micro: 750, Low: 750, High: 750,
			Rate: 4000, Unit: "GB/s", Ratio: 1},
		{Group: "g", Job: "n", Contender: "c", Base: "b", Error: "broken"},
	}
	if d := cmp.Diff(expected, results); d != "" {
		t.Error(d)
	}
}

// TestResults checks medians, percentiles, rates and ratios.
func TestResults(t *testing.T) {
	micro := func(list ...int) (out []time.Duration) {
		for _, n := range list {
			out = append(out, time.Duration(n)*time.Microsecond)
		}
		return out
	}
	j := Job{Flop: 6e9, Base: "theirs", Contenders: []Contender{{Name: "theirs"}, {Name: "ours"}}}
	got := j.results([][]time.Duration{micro(50, 10, 30, 20, 40, 60, 70, 80, 90, 100, 110),
		micro(30, 30, 30)}, make([]error, 2), 1980, 300)
	if r := got[0]; r.Micro != 60 || r.Low != 20 || r.High != 100 || r.Rate != 100 ||
		r.Unit != "TFLOP/s" || r.Ratio != 1 {
		t.Errorf("%+v", r)
	}
	if r := got[1]; r.Rate != 200 || r.Ratio != 2 || r.Clock != 1980 {
		t.Errorf("%+v", r)
	}
	// Without the base contender there are no ratios.
	if got := j.results([][]time.Duration{nil, micro(30)}, []error{errors.New("absent"), nil}, 0,
		0); got[1].Ratio != 0 || got[0].Error != "absent" {
		t.Errorf("%+v", got)
	}
	var text strings.Builder
	if err := Table(&text,
		[]Result{got[1], {Group: "g", Job: "n", Contender: "c", Error: "absent"}}); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); !strings.Contains(s,
		"| 200 TFLOP/s | 2.000 of theirs | 1980 MHz, 300 W |") || !strings.Contains(s, "| absent") {
		t.Error(s)
	}
}

func TestBest(t *testing.T) {
	list := []Result{{Contender: "cuBLAS", Micro: 10}, {Contender: "cuBLASLt", Micro: 12},
		{Contender: "cuBLASLt 1", Micro: 9}, {Contender: "cuBLASLt 2", Error: "no"},
		{Contender: "ours", Micro: 5}}
	var names []string
	for _, r := range keepBest(list) {
		names = append(names, r.Contender)
	}
	if d := cmp.Diff([]string{"cuBLAS", "cuBLASLt", "ours", "cuBLASLt, best of 8"},
		names); d != "" {
		t.Error(d)
	}
	if r := keepBest(list); r[3].Micro != 9 {
		t.Errorf("%+v", r[3])
	}
	if got := keepBest(list[4:]); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestNear(t *testing.T) {
	x := []runtime.BF16{runtime.ToBF16(100), runtime.ToBF16(1), runtime.ToBF16(2)}
	y := slices.Clone(x)
	y[1] = runtime.ToBF16(1.5)
	if err := compareNear(y, x, kerneltest.BF16.Float, 1.0/128); err != nil {
		t.Errorf("a neighbor of small numbers beside large ones: %v", err)
	}
	for _, wrong := range []float32{1 + 2, float32(math.Inf(1))} {
		y[1] = runtime.ToBF16(wrong)
		if compareNear(y, x, kerneltest.BF16.Float, 1.0/128) == nil {
			t.Errorf("%v passes for 1", wrong)
		}
	}
	y[1] = 0x7fc0 // NaN
	if compareNear(y, x, kerneltest.BF16.Float, 1.0/128) == nil {
		t.Error("not-a-number passes for 1")
	}
}

// TestAbsent checks that a missing library is reported with the places searched, and that the given
// folders are searched first.
func TestAbsent(t *testing.T) {
	_, err := load([]string{t.TempDir()}, []string{"libnothing-at-all.so"}, "f")
	if err == nil || !strings.Contains(err.Error(), "none of libnothing-at-all.so") {
		t.Error(err)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "libbroken.so")
	if err := os.WriteFile(path, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err = load([]string{folder}, []string{"libbroken.so"}); err == nil ||
		!strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if list := Folders("/b:/a"); len(list) < 3 || list[0] != "/b" || list[1] != "/a" {
		t.Errorf("%v", list)
	}
	b := pretended(t, 1)
	if b.Meter() == "" {
		t.Error("the report lacks the clocks")
	}
	l, err := NewBLAS(b, []string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Origin) != 2 {
		t.Errorf("%v", l.Origin)
	}
	if l.cublas == nil && l.light == nil &&
		len(l.Contenders(KindOf(isa.Bf16, isa.Bf16), Problem{})) != 0 {
		t.Error("contenders without libraries")
	}
}
