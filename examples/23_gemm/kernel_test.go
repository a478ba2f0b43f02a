// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden file, and checks and assembles it.
func TestPTX(t *testing.T) {
	m := dsl.New("gemm.sm_80", "sm_80")
	Build(m)
	golden.Verify(t, m)
}

// TestRun multiplies in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestDescribe checks which kernel is chosen on which device.
func TestDescribe(t *testing.T) {
	for _, c := range []struct{ device, want string }{
		{"emu:sm_80", "ladder v0"}, {"emu:sm_90a", "hopper 128x"},
		{"emu:sm_100a", "blackwell 128x256"}, {"emu:sm_120a", "ladder v2"},
	} {
		d, err := runtime.Open(c.device)
		if err != nil {
			t.Fatal(err)
		}
		l := New(d)
		x, err := runtime.Alloc[runtime.BF16](d, 256*256)
		if err != nil {
			t.Fatal(err)
		}
		m := By(x, 256, 256)
		got, err := Describe(l, m, m, m.T(), Options{})
		if err != nil || !strings.HasPrefix(got, c.want) || strings.Contains(got, "copies") {
			t.Errorf("%s: %s, %v; want %s", c.device, got, err, c.want)
		}
		got, err = Describe(l, m, m.T(), m, Options{Beta: 1})
		want := "copies A and B, converts the product"
		if c.device == "emu:sm_90a" { // wgmma reads both as they are stored
			want = "transposed A, transposed B, 256x256x256, 8 blocks, converts the product"
		}
		if err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, %v; want %s", c.device, got, err, want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMistakes checks the errors of calls that cannot be right.
func TestMistakes(t *testing.T) {
	d, err := runtime.Open("emu:sm_80")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l := New(d)
	f32, _ := runtime.Alloc[float32](d, 24)
	f16, _ := runtime.Alloc[runtime.F16](d, 24)
	f64, _ := runtime.Alloc[float64](d, 24)
	s8, _ := runtime.Alloc[int8](d, 24)
	s32, _ := runtime.Alloc[int32](d, 24)
	s16, _ := runtime.Alloc[int16](d, 24)
	a := By(f32, 4, 6)
	for _, c := range []struct {
		err  error
		want string
	}{
		{Multiply(l, By(f32, 4, 6), a, a, Options{}), "is not the product"},
		{Multiply(l, By(f32, 4, 4), a, By(f32, 6, 4), Options{}),
			"D has 24 elements for 4 rows of 4"},
		{Multiply(l, a, By(f32, 5, 5), a, Options{}), "A has 24 elements for 5 rows of 5"},
		{Multiply(l, a, By(f32, 0, 5), a, Options{}), "A has 0 rows"},
		{Multiply(l, a, a, Matrix[float32]{Rows: 1, Cols: 1}, Options{}), "B has no data"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v; want %s", c.err, c.want)
		}
	}
	b := By(f32, 6, 4)
	for _, c := range []struct {
		err  error
		want string
	}{
		{Multiply(l, first(t, f32).T(), a, b, Options{}), "multiply B.T() by A.T()"},
		{Multiply(l, first(t, f16), By(f64, 4, 6), By(f64, 6, 4), Options{}),
			"not supported for operands of float64"},
		{Multiply(l, first(t, s32), By(s8, 4, 6), By(s8, 6, 4), Options{Alpha: 2}), "Alpha = 1"},
		{Multiply(l, first(t, s32), a, b, Options{}), "takes integer operands"},
		{Multiply(l, first(t, f32), By(s16, 4, 6), By(s16, 6, 4), Options{}), "operands of int16"},
		{Multiply(l, first(t, s8), By(s8, 4, 6), By(s8, 6, 4), Options{}), "a result of int8"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v; want %s", c.err, c.want)
		}
	}
}

// first returns a matrix of four rows and columns.
func first[E runtime.Element](t *testing.T, b *runtime.Buffer[E]) Matrix[E] {
	s, err := b.Slice(0, 16)
	if err != nil {
		t.Fatal(err)
	}
	return By(s, 4, 4)
}
