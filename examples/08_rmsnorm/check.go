// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Check normalizes rows of all types and of several lengths. In some cases, the last block has
// fewer rows than the other blocks.
func Check(t *kerneltest.T) error {
	for _, hidden := range t.Lengths(1024, 2048, 3072, 4096, 8192, 16384, 32768) {
		for _, rows := range kerneltest.Sizes(t, func(rows int) int { return rows * hidden }, 1, 7,
			64) {
			var errs []error
			for _, typ := range []isa.Type{isa.F32, isa.F16, isa.Bf16} {
				errs = append(errs, checkType(t, typ, hidden, rows))
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkType runs the kernel for one type, with the tolerance of the type.
func checkType(t *kerneltest.T, typ isa.Type, hidden, rows int) error {
	switch typ {
	case isa.F16: // the result is rounded once, by half a unit in the last place
		return check(t, typ, kerneltest.F16, hidden, rows, kerneltest.F16.ULPs(0.52))
	case isa.Bf16:
		return check(t, typ, kerneltest.BF16, hidden, rows, kerneltest.BF16.ULPs(0.52))
	}
	// rsqrt.approx has an error of 2 ulp, and two multiplications and the sum are rounded. A
	// thread that adds small squares to a large sum loses a part of each small square.
	return check(t, isa.F32, kerneltest.F32, hidden, rows, kerneltest.F32.ULPs(5.2))
}

// check runs the kernel for elements of one format, and compares the results with those of
// Reference.
func check[E runtime.Element](
	t *kerneltest.T, typ isa.Type, f kerneltest.Format[E], hidden, rows int,
	tolerance kerneltest.Tolerance,
) error {
	const eps = 1e-5
	k, err := t.Kernel(fmt.Sprintf("rmsnorm_%s_%d", f.Name, hidden),
		func(m *dsl.Module) { Build(m, typ, hidden) })
	if err != nil {
		return err
	}
	x, w := inputs(t, f, rows, hidden), kerneltest.Random(t, f, hidden)
	y := make([]E, rows*hidden)
	each, _ := Rows(hidden)
	err = t.Launch(k, runtime.Grid((rows+each-1)/each), kerneltest.In(x), kerneltest.In(w),
		kerneltest.Out(y), rows, float32(eps))
	if err != nil {
		return err
	}
	var want []float64
	for row := range rows {
		want = append(want, Reference(f.Decode(x[row*hidden:][:hidden]), f.Decode(w), eps)...)
	}
	return kerneltest.Compare(t, fmt.Sprintf("%s, %d rows of %d", f.Name, rows, hidden),
		f.Decode(y), want, tolerance)
}
