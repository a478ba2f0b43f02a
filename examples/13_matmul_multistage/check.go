// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of every type in several shapes.
func Check(t *trial.T) error {
	single := func(x float32) float64 { return float64(x) }
	for _, steps := range [][3]int{{1, 1, 1}, {3, 1, 5}, {5, 7, 16}} {
		err := errors.Join(
			check(t, isa.F16, steps, func(x float32) runtime.F16 { return runtime.ToF16(x) }, func(x runtime.F16) float64 { return float64(x.Float32()) }, single, 1e-5),
			check(t, isa.Bf16, steps, runtime.ToBF16, func(x runtime.BF16) float64 { return float64(x.Float32()) }, single, 1e-5),
			// Products of tf32 keep ten bits of each number.
			check(t, isa.Tf32, steps, func(x float32) float32 { return x }, single, single, 1e-3),
			check(t, isa.S8, steps, func(x float32) int8 { return int8(127 * x) }, func(x int8) float64 { return float64(x) }, func(x int32) float64 { return float64(x) }, 0),
			check(t, isa.F64, steps, func(x float32) float64 { return float64(x) }, func(x float64) float64 { return x }, func(x float64) float64 { return x }, 1e-14),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// check multiplies matrices of so many tiles.
func check[E, C runtime.Element](t *trial.T, e isa.Type, steps [3]int, narrow func(float32) E, wide func(E) float64, sum func(C) float64, tolerance float64) error {
	tiling := Default[e]
	depth := 128 * 8 / e.Bits()
	p := trial.Product{M: steps[0] * tiling.M, N: steps[1] * tiling.N, K: steps[2] * depth}
	k, err := t.Kernel("matmul"+name(e), func(m *dsl.Module) { Build(m, e, tiling) })
	if err != nil {
		return err
	}
	numbers := func(n int) []E {
		xs := make([]E, n)
		for i, x := range t.Floats(n) {
			xs[i] = narrow(x)
		}
		return xs
	}
	as, bs := numbers(p.M*p.K), numbers(p.N*p.K)
	a, e1 := runtime.Upload(t.Device, as)
	b, e2 := runtime.Upload(t.Device, bs)
	d, e3 := runtime.Alloc[C](t.Device, p.M*p.N)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(steps[1], steps[0]), a, b, d, p.M, p.N, p.K); err != nil {
		return err
	}
	ds, err := runtime.Download(d)
	if err := errors.Join(err, a.Close(), b.Close(), d.Close()); err != nil {
		return err
	}
	err = t.Holds(p, func(row, col int) float64 { return sum(ds[row*p.N+col]) },
		func(row, k int) float64 { return wide(as[row*p.K+k]) }, func(col, k int) float64 { return wide(bs[col*p.K+k]) }, tolerance)
	if err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return nil
}
