// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package softmax

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check runs the kernels on a device, with numbers near one another and far apart.
func Check(t *trial.T) error {
	for _, cols := range trial.Within(t, trial.Count, 1024, 4096, 32768) {
		for _, rows := range trial.Within(t, func(rows int) int { return rows * cols }, 1, 2, 133) {
			for _, size := range []float32{1, 300} {
				xs := t.Floats(rows * cols)
				for i := range xs {
					xs[i] *= size
				}
				// The exponent of 300 is known to 300 * 2^-23, and so is the power, relatively.
				exact := 2e-5 + float64(size)*1e-6
				if err := errors.Join(
					check(t, isa.F32, cols, exact, xs, func(y float32) float32 { return y }),
					check(t, isa.F16, cols, 4e-3, trial.F16(slices.Clone(xs)), runtime.F16.Float32),
					check(t, isa.Bf16, cols, 8e-3, trial.BF16(slices.Clone(xs)), runtime.BF16.Float32),
				); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// check runs one kernel on numbers of type E.
func check[E runtime.Element](t *trial.T, e isa.Type, cols int, tolerance float64, xs []E, widen func(E) float32) error {
	name := fmt.Sprintf("softmax_%s_%d", e.String()[1:], cols)
	k, err := t.Kernel(name, func(m *dsl.Module) { Build(m, e, cols) })
	if err != nil {
		return err
	}
	x, e1 := runtime.Upload(t.Device, xs)
	y, e2 := runtime.Alloc[E](t.Device, len(xs))
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	rows := len(xs) / cols
	if err := k.Launch(runtime.Grid(rows), x, y); err != nil {
		return err
	}
	ys, err := runtime.Download(y)
	if err := errors.Join(err, x.Close(), y.Close()); err != nil {
		return err
	}
	// The numbers of a row are small: what counts is how far off they are for their size.
	var got, want []float32
	for i := range rows {
		row := make([]float32, cols)
		for j := range row {
			row[j] = widen(xs[i*cols+j])
			got = append(got, widen(ys[i*cols+j])*float32(cols))
		}
		for _, v := range Reference(row) {
			want = append(want, v*float32(cols))
		}
	}
	return trial.Near(fmt.Sprintf("%s, %d rows", name, rows), got, want, tolerance)
}
