// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check divides matrices of several shapes, again and again, so that a kernel that does not wait is found.
func Check(t *trial.T) error {
	if err := t.Needs("clusters", 90, 0); err != nil {
		return err
	}
	m := dsl.New("clusters.ptx", t.Target())
	Build(m)
	loaded, err := t.Load(m)
	if err != nil {
		return err
	}
	sum, e1 := loaded.Kernel("sum_rows")
	scale, e2 := loaded.Kernel("scale_rows")
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	for _, shape := range trial.Within(t, trial.Area, [][2]int{{1, 1}, {3, 1000}, {257, 4099}, {4000, 333}}...) {
		for range 3 {
			if err := check(t, sum, scale, shape[0], shape[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// check divides so many rows of n numbers.
func check(t *trial.T, sum, scale *runtime.Kernel, rows, n int) error {
	xs := t.Floats(rows * n)
	want := make([]float32, 0, rows*n)
	for row := range rows {
		for i := range n {
			xs[row*n+i] += 1.5 // sums are far from zero
		}
		want = append(want, Reference(xs[row*n:row*n+n])...)
	}
	s, err := t.Device.Stream()
	if err != nil {
		return err
	}
	x, e1 := runtime.Upload(t.Device, xs)
	sums, e2 := runtime.Upload(t.Device, make([]float32, rows))
	y, e3 := runtime.Alloc[float32](t.Device, rows*n)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	if err := sum.Launch(runtime.Grid(cluster*rows).On(s), x, sums, n); err != nil {
		return err
	}
	if err := scale.Launch(runtime.Grid(rows).Programmatic().On(s), x, sums, y, n); err != nil {
		return err
	}
	got, err := runtime.Download(y.On(s))
	if err := errors.Join(err, x.Close(), sums.Close(), y.Close(), s.Close()); err != nil {
		return err
	}
	return trial.Near(fmt.Sprintf("%d rows of %d", rows, n), got, want, 1e-6)
}
