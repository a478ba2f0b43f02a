// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"errors"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Compress keeps two of each four neighbours of a matrix, those that are not zero, and tells their places: two bits for
// each, the first in the lowest. Of four with fewer than two it keeps zeros too. More than two that are not zero would be lost.
func Compress[E comparable](xs []E) (kept []E, places []byte) {
	var zero E
	kept = make([]E, 0, len(xs)/2)
	places = make([]byte, len(xs)/8)
	for i := 0; i < len(xs); i += 4 {
		var at []int
		for p := range 4 {
			if xs[i+p] != zero && len(at) < 2 {
				at = append(at, p)
			}
		}
		switch { // the places of a pair rise
		case len(at) == 0:
			at = []int{0, 1}
		case len(at) == 1 && at[0] == 0:
			at = []int{0, 1}
		case len(at) == 1:
			at = []int{at[0] - 1, at[0]}
		}
		kept = append(kept, xs[i+at[0]], xs[i+at[1]])
		places[i/8] |= byte(at[0]|at[1]<<2) << (i % 8)
	}
	return kept, places
}

// Check multiplies matrices of every type that the device has, in several shapes.
func Check(t *trial.T) error {
	single := func(x float32) float64 { return float64(x) }
	for _, steps := range [][3]int{{1, 1, 1}, {3, 1, 5}, {5, 7, 16}} {
		err := errors.Join(
			check(t, isa.F16, steps, func(x float32) runtime.F16 { return runtime.ToF16(x) }, func(x runtime.F16) float64 { return float64(x.Float32()) }, single, 1e-5),
			check(t, isa.Bf16, steps, runtime.ToBF16, func(x runtime.BF16) float64 { return float64(x.Float32()) }, single, 1e-5),
			check(t, isa.S8, steps, func(x float32) int8 { return int8(127 * x) }, func(x int8) float64 { return float64(x) }, func(x int32) float64 { return float64(x) }, 0),
			check(t, isa.E4m3, steps, toE4M3, fromE4M3, single, 1e-2), // sums of eight-bit floats are not kept to the last bit
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// toE4M3 is a power of two near to x, from 1/8 to 1, with its sign, or zero for zero.
func toE4M3(x float32) uint8 {
	var sign uint8
	if x < 0 {
		sign, x = 0x80, -x
	}
	if x == 0 {
		return 0
	}
	exponent := uint8(7) // of 1
	for ; x < 0.7 && exponent > 4; x *= 2 {
		exponent--
	}
	return sign | exponent<<3
}

// fromE4M3 is what toE4M3 made.
func fromE4M3(x uint8) float64 {
	v := math.Ldexp(1, int(x>>3&15)-7)
	switch {
	case x == 0:
		return 0
	case x&0x80 != 0:
		return -v
	}
	return v
}

// check multiplies matrices of so many tiles.
func check[E interface {
	comparable
	runtime.Element
}, C runtime.Element](t *trial.T, e isa.Type, steps [3]int, narrow func(float32) E, wide func(E) float64, sum func(C) float64, tolerance float64) error {
	p := trial.Product{M: steps[0] * Default.M, N: steps[1] * Default.N, K: steps[2] * depth(e)}
	k, err := t.Kernel("sparse"+name(e), func(m *dsl.Module) { Build(m, e, Default) })
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
	for i := 0; i < len(as); i += 4 { // two of four become zero
		drop := t.Rand.Perm(4)
		as[i+drop[0]], as[i+drop[1]] = narrow(0), narrow(0)
	}
	kept, places := Compress(as)
	a, e1 := runtime.Upload(t.Device, kept)
	told, e2 := runtime.Upload(t.Device, places)
	b, e3 := runtime.Upload(t.Device, bs)
	d, e4 := runtime.Alloc[C](t.Device, p.M*p.N)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(steps[1], steps[0]), a, told, b, d, p.M, p.N, p.K); err != nil {
		return err
	}
	ds, err := runtime.Download(d)
	if err := errors.Join(err, a.Close(), told.Close(), b.Close(), d.Close()); err != nil {
		return err
	}
	err = t.Holds(p, func(row, col int) float64 { return sum(ds[row*p.N+col]) },
		func(row, k int) float64 { return wide(as[row*p.K+k]) }, func(col, k int) float64 { return wide(bs[col*p.K+k]) }, tolerance)
	if err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return nil
}
