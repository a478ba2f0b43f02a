// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest_test

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// halve stores half of each element of x to y.
func halve(m *dsl.Module) {
	k := m.Kernel("halve", dsl.Threads(128))
	x, y, n := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y"), dsl.Param[dsl.U32](k, "n")
	for i := range k.GridStride(n) {
		y.Store(i, x.Load(i).MulF(0.5))
	}
}

// check compares halve with a loop in Go.
func check(t *kerneltest.T) error {
	k, err := t.Kernel("halve", halve)
	if err != nil {
		return err
	}
	for _, n := range t.Lengths(1, 129, 1000) {
		x, y, want := t.Float32s(n), make([]float32, n), make([]float32, n)
		for i := range want {
			want[i] = x[i] / 2
		}
		if err := t.Launch(k, runtime.Grid(2), kerneltest.In(x), kerneltest.Out(y), n); err != nil {
			return err
		}
		if err := kerneltest.Equal(t, fmt.Sprintf("n = %d", n), y, want); err != nil {
			return err
		}
	}
	return nil
}

// A check can run outside of tests, on a device that the program opens.
func ExampleNew() {
	d, err := runtime.Open("emu:sm_90")
	if err != nil {
		fmt.Println(err)
		return
	}
	t := kerneltest.New(d)
	if err := check(t); err != nil {
		fmt.Println(err)
	}
	for _, r := range t.Results() {
		fmt.Println(r)
	}
	if err := d.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// n = 1: 1 elements equal
	// n = 129: 129 elements equal
	// n = 1000: 1000 elements equal
}

func ExampleTolerance() {
	// A GEMM with F32 accumulators, which tensor cores truncate after every 16 products, and
	// results rounded to BF16.
	t := kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-24).TruncatedEvery(16))
	fmt.Printf("%v\n%.4g\n", t, t.Sum(256).Allows(1))
	// Output:
	// 6e-08·K/16 + 0.5 ulp
	// 0.003922
}

func ExampleFormat() {
	x := kerneltest.F16.From(1.0 / 3)
	fmt.Printf("%#04x is %v\n", uint16(x), kerneltest.F16.Float(x))
	// Output: 0x3555 is 0.333251953125
}
