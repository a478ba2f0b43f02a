// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package trial is what an example's kernel is tried with on a device: random numbers, and comparisons with what a reference makes of
// the same numbers.
package trial

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A T is a device and a source of numbers.
type T struct {
	Device *runtime.Device
	Rand   *rand.Rand
	Notes  []string // what is worth telling beside success
}

// Note adds to the notes.
func (t *T) Note(format string, args ...any) { t.Notes = append(t.Notes, fmt.Sprintf(format, args...)) }

// ErrSkip is the error of a trial that the device cannot run.
var ErrSkip = errors.New("skipped")

// Skip is such an error.
func Skip(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSkip, fmt.Sprintf(format, args...))
}

// Target is what modules for the device are built for.
func (t *T) Target() string { return t.Device.Info().Target }

// Kernel builds a module for the device, loads it, and finds a kernel.
func (t *T) Kernel(name string, build func(*dsl.Module)) (*runtime.Kernel, error) {
	m := dsl.New(name+".ptx", t.Target())
	build(m)
	loaded, err := t.Device.Load(m)
	if err != nil {
		return nil, err
	}
	return loaded.Kernel(name)
}

// Floats are n random numbers in [-1, 1].
func (t *T) Floats(n int) []float32 {
	xs := make([]float32, n)
	for i := range xs {
		xs[i] = 2*t.Rand.Float32() - 1
	}
	return xs
}

// Integers are n random integers.
func (t *T) Integers(n int) []uint32 {
	xs := make([]uint32, n)
	for i := range xs {
		xs[i] = t.Rand.Uint32()
	}
	return xs
}

// BF16 is what xs is in bfloat16, and rounds xs to that.
func BF16(xs []float32) []runtime.BF16 {
	out := make([]runtime.BF16, len(xs))
	for i, x := range xs {
		out[i] = runtime.ToBF16(x)
		xs[i] = out[i].Float32()
	}
	return out
}

// F16 is what xs is in half precision, and rounds xs to that.
func F16(xs []float32) []runtime.F16 {
	out := make([]runtime.F16, len(xs))
	for i, x := range xs {
		out[i] = runtime.ToF16(x)
		xs[i] = out[i].Float32()
	}
	return out
}

// A Number is what results are made of.
type Number interface {
	~int8 | ~int32 | ~uint32 | ~uint8 | ~float32 | ~float64
}

// Same is an error where two lists differ.
func Same[N Number](what string, got, want []N) error { return Near(what, got, want, 0) }

// Near is an error where an element is further from what is wanted than a tolerance, times the size of the number where that is above one.
// Not-a-number is near to nothing.
func Near[N Number](what string, got, want []N, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d results, not %d", what, len(got), len(want))
	}
	wrong, worst, distance := 0, 0, -1.0
	for i := range got {
		g, w := float64(got[i]), float64(want[i])
		d := math.Abs(g-w) / math.Max(1, math.Abs(w))
		if d <= tolerance {
			continue
		}
		wrong++
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if d > distance {
			worst, distance = i, d
		}
	}
	if wrong == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d of %d results are wrong; the worst is number %d: %v, not %v", what, wrong, len(got), worst, got[worst], want[worst])
}

// A Product is a matrix product D = A * B', with A of m x k and B of n x k, both by rows.
type Product struct{ M, N, K int }

// String is the size.
func (p Product) String() string { return fmt.Sprintf("%dx%dx%d", p.M, p.N, p.K) }

// Holds compares random elements of a product, and its corners, with sums in double precision. The tolerance is for numbers in [-1, 1]: it is
// taken times the root of the length of a sum, which such sums grow with.
func (t *T) Holds(p Product, at func(row, col int) float64, a, b func(row, k int) float64, tolerance float64) error {
	const most = 4000
	check := func(row, col int) error {
		var sum float64
		for k := range p.K {
			sum += a(row, k) * b(col, k)
		}
		if got := at(row, col); !(math.Abs(got-sum) <= tolerance*math.Sqrt(float64(p.K))) {
			return fmt.Errorf("%s: element %d, %d is %v, not %v", p, row, col, got, sum)
		}
		return nil
	}
	for _, row := range []int{0, p.M - 1} {
		for _, col := range []int{0, p.N - 1} {
			if err := check(row, col); err != nil {
				return err
			}
		}
	}
	for range min(most, p.M*p.N) {
		if err := check(t.Rand.IntN(p.M), t.Rand.IntN(p.N)); err != nil {
			return err
		}
	}
	return nil
}
