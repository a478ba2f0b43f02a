// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"errors"
	"fmt"
	"math"

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
			// Products of tf32 keep ten bits of each number, so that is all they are given.
			check(t, isa.Tf32, steps, func(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1<<13 - 1)) }, single, single, 1e-5),
			check(t, isa.S8, steps, func(x float32) int8 { return int8(127 * x) }, func(x int8) float64 { return float64(x) }, func(x int32) float64 { return float64(x) }, 0),
			check(t, isa.U8, steps, func(x float32) uint8 { return uint8(127 + 127*x) }, func(x uint8) float64 { return float64(x) }, func(x int32) float64 { return float64(x) }, 0),
			small(t, isa.S4, steps, func(x uint32) int { return int(int32(x<<28) >> 28) }),
			small(t, isa.U4, steps, func(x uint32) int { return int(x & 15) }),
			small(t, isa.B1, steps, func(x uint32) int { return int(x & 1) }),
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
	p := product(e, steps)
	numbers := func(n int) []E {
		xs := make([]E, n)
		for i, x := range t.Floats(n) {
			xs[i] = narrow(x)
		}
		return xs
	}
	as, bs := numbers(p.M*p.K), numbers(p.N*p.K)
	ds, err := multiply[E, C](t, e, steps, as, bs)
	if err != nil {
		return err
	}
	err = t.Holds(p, func(row, col int) float64 { return sum(ds[row*p.N+col]) },
		func(row, k int) float64 { return wide(as[row*p.K+k]) }, func(col, k int) float64 { return wide(bs[col*p.K+k]) }, tolerance)
	if err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return nil
}

// small multiplies matrices of integers smaller than a byte, of which number makes one of random bits.
func small(t *trial.T, e isa.Type, steps [3]int, number func(bits uint32) int) error {
	p := product(e, steps)
	numbers := func(n int) (xs []int, packed []byte) {
		packed = make([]byte, n*e.Bits()/8)
		for i, bits := range t.Integers(n) {
			x := number(bits)
			xs = append(xs, x)
			at := i * e.Bits()
			packed[at/8] |= byte(x) & byte(1<<e.Bits()-1) << (at % 8)
		}
		return xs, packed
	}
	as, pa := numbers(p.M * p.K)
	bs, pb := numbers(p.N * p.K)
	ds, err := multiply[byte, int32](t, e, steps, pa, pb)
	if err != nil {
		return err
	}
	err = t.Holds(p, func(row, col int) float64 { return float64(ds[row*p.N+col]) },
		func(row, k int) float64 { return float64(as[row*p.K+k]) }, func(col, k int) float64 { return float64(bs[col*p.K+k]) }, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return nil
}

// product is the size of so many tiles.
func product(e isa.Type, steps [3]int) trial.Product {
	tiling := Default[e]
	return trial.Product{M: steps[0] * tiling.M, N: steps[1] * tiling.N, K: steps[2] * 128 * 8 / e.Bits()}
}

// multiply runs the kernel of a type.
func multiply[E, C runtime.Element](t *trial.T, e isa.Type, steps [3]int, as, bs []E) ([]C, error) {
	p := product(e, steps)
	k, err := t.Kernel("matmul"+name(e), func(m *dsl.Module) { Build(m, e, Default[e]) })
	if err != nil {
		return nil, err
	}
	a, e1 := runtime.Upload(t.Device, as)
	b, e2 := runtime.Upload(t.Device, bs)
	d, e3 := runtime.Alloc[C](t.Device, p.M*p.N)
	if err := errors.Join(e1, e2, e3); err != nil {
		return nil, err
	}
	if err := k.Launch(runtime.Grid(steps[1], steps[0]), a, b, d, p.M, p.N, p.K); err != nil {
		return nil, err
	}
	ds, err := runtime.Download(d)
	return ds, errors.Join(err, a.Close(), b.Close(), d.Close())
}
