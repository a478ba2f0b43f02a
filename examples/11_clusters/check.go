// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernels are built.
var Targets = []string{"sm_90", "sm_100", "sm_120"}

// tolerance allows for an F32 sum over many threads, a reciprocal with an error of 1 ulp, and a
// multiplication.
var tolerance = kerneltest.F32.ULPs(6)

// Check divides the rows of matrices of several shapes by their sums. It repeats each division
// three times to detect a second kernel that does not wait for the first.
func Check(t *kerneltest.T) error {
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
	area := func(size [2]int) int { return size[0] * size[1] }
	for _, shape := range kerneltest.Sizes(t, area, [2]int{1, 1}, [2]int{3, 1001},
		[2]int{257, 4099}, [2]int{4000, 333}) {
		for range 3 {
			if err := check(t, sum, scale, shape[0], shape[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// check divides rows of n elements and compares the results with those of Reference. Both kernels
// run on one stream, and the second may start before the first has ended.
func check(t *kerneltest.T, sum, scale *runtime.Kernel, rows, n int) error {
	// Positive elements keep the sums from being close to zero.
	xs := kerneltest.Random(t, kerneltest.F32.Within(0.5, 2.5), rows*n)
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
	var want []float64
	for row := range rows {
		want = append(want, Reference(xs[row*n:][:n])...)
	}
	return kerneltest.Compare(t, fmt.Sprintf("%d rows of %d", rows, n), got, want, tolerance)
}
