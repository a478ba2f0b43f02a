// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package softmax

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// Check runs the kernel for all types on rows of several lengths, with elements from -1 to 1 and
// from -300 to 300.
func Check(t *kerneltest.T) error {
	// Results below the smallest normal number may be flushed to zero.
	tiny := kerneltest.Abs(0x1p-126)
	for _, cols := range t.Lengths(1024, 4096, 32768) {
		for _, rows := range kerneltest.Sizes(t, func(rows int) int { return rows * cols }, 1, 3,
			133) {
			for _, size := range []float64{1, 300} {
				// ex2.approx has an error of 2 ulp, and the rounding of x - max adds a relative
				// error of 2^-24 times the magnitude of x - max. This magnitude is at most
				// 2*size, and at most 87 if the result is a normal number.
				single := kerneltest.Rel(4e-7 + min(2*size, 87)*0x1p-24).Plus(tiny)
				if err := errors.Join(
					check(t, isa.F32, kerneltest.F32, rows, cols, size, single),
					check(t, isa.F16, kerneltest.F16, rows, cols, size, kerneltest.F16.ULPs(0.52)),
					check(t, isa.Bf16, kerneltest.BF16, rows, cols, size,
						kerneltest.BF16.ULPs(0.52)),
				); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// check runs the kernel for one type on random elements from -size to size, and compares the
// results with those of Reference.
func check[E runtime.Element](
	t *kerneltest.T, typ isa.Type, f kerneltest.Format[E], rows, cols int, size float64,
	tolerance kerneltest.Tolerance,
) error {
	name := fmt.Sprintf("softmax_%s_%d", f.Name, cols)
	k, err := t.Kernel(name, func(m *dsl.Module) { Build(m, typ, cols) })
	if err != nil {
		return err
	}
	x := kerneltest.Random(t, f.Within(-size, size), rows*cols)
	y := make([]E, rows*cols)
	if err := t.Launch(k, runtime.Grid(rows), kerneltest.In(x), kerneltest.Out(y)); err != nil {
		return err
	}
	var want []float64
	for row := range rows {
		want = append(want, Reference(f.Decode(x[row*cols:][:cols]))...)
	}
	what := fmt.Sprintf("%s, %d rows of %d in ±%v", f.Name, rows, cols, size)
	return kerneltest.Compare(t, what, f.Decode(y), want, tolerance)
}
