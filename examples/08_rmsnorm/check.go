// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check normalises rows of every type in several lengths, with more rows than the last block has and fewer.
func Check(t *trial.T) error {
	for _, hidden := range trial.Within(t, trial.Count, 1024, 2048, 3072, 4096, 8192, 16384, 32768) {
		for _, rows := range trial.Within(t, func(rows int) int { return rows * hidden }, 1, 7, 64) {
			x, w := t.Floats(rows*hidden), t.Floats(hidden)
			if err := errors.Join(
				check(t, isa.F32, hidden, rows, 1e-5, x, w, func(y float32) float32 { return y }),
				check(t, isa.F16, hidden, rows, 1e-3, trial.F16(x), trial.F16(w), runtime.F16.Float32),
				check(t, isa.Bf16, hidden, rows, 8e-3, trial.BF16(x), trial.BF16(w), runtime.BF16.Float32),
			); err != nil {
				return err
			}
		}
	}
	return nil
}

// check runs the kernel on rows of a type.
func check[E runtime.Element](t *trial.T, e isa.Type, hidden, rows int, tolerance float64, xs, ws []E, widen func(E) float32) error {
	const eps = 1e-5
	name := fmt.Sprintf("rmsnorm_%s_%d", e.String()[1:], hidden)
	k, err := t.Kernel(name, func(m *dsl.Module) { Build(m, e, hidden) })
	if err != nil {
		return err
	}
	px, e1 := runtime.Upload(t.Device, xs)
	pw, e2 := runtime.Upload(t.Device, ws)
	py, e3 := runtime.Alloc[E](t.Device, len(xs))
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	each, _ := Rows(hidden)
	if err := k.Launch(runtime.Grid((rows+each-1)/each), px, pw, py, rows, float32(eps)); err != nil {
		return err
	}
	ys, err := runtime.Download(py)
	if err := errors.Join(err, px.Close(), pw.Close(), py.Close()); err != nil {
		return err
	}
	got, want := make([]float32, len(ys)), []float32(nil)
	for i, y := range ys {
		got[i] = widen(y)
	}
	for i := range rows {
		row := make([]float32, hidden)
		weights := make([]float32, hidden)
		for j := range row {
			row[j], weights[j] = widen(xs[i*hidden+j]), widen(ws[j])
		}
		want = append(want, Reference(row, weights, eps)...)
	}
	return trial.Near(fmt.Sprintf("%s, %d rows", name, rows), got, want, tolerance)
}
