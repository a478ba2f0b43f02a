// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	multistage "github.com/ptxdsl/ptxdsl/examples/13_matmul_multistage"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Multistage measures the matrix products with cp.async and mma.sync for square matrices, for the
// types that the libraries support.
func Multistage(b *Bench, l *BLAS, size int) ([]Result, error) {
	var all []Result
	var errs []error
	keep := func(list []Result, err error) {
		all = append(all, list...)
		errs = append(errs, err)
	}
	keep(multiply(b, l, isa.F16, size, kerneltest.F16, kerneltest.F32, 1e-4))
	keep(multiply(b, l, isa.Bf16, size, kerneltest.BF16, kerneltest.F32, 1e-4))
	keep(multiply(b, l, isa.Tf32, size, kerneltest.TF32, kerneltest.F32, 1e-4))
	keep(multiply(b, l, isa.F32, size, kerneltest.F32, kerneltest.F32, 1e-4))
	keep(multiply(b, l, isa.S8, size, kerneltest.S8, kerneltest.S32, 0))
	keep(multiply(b, l, isa.F64, size, kerneltest.F64, kerneltest.F64, 1e-12))
	return all, errors.Join(errs...)
}

// multiply measures the kernel for one operand type.
func multiply[E, C runtime.Element](b *Bench, l *BLAS, e isa.Type, size int,
	in kerneltest.Format[E], out kerneltest.Format[C], tolerance float64) ([]Result, error) {
	from := func(x float32) E { return in.From(float64(x)) }
	a, _, e1 := numbers(b, size*size, from)
	bt, _, e2 := numbers(b, size*size, from)
	d, e3 := runtime.Alloc[C](b.Device, size*size)
	tiling := multistage.Default(e)
	blocks, e4 := tiling.Blocks(e, size, size, size)
	t := &kerneltest.T{Device: b.Device, Rand: b.rand}
	name := e.String()[1:]
	k, e5 := t.Kernel("matmul_"+name, func(m *dsl.Module) { multistage.Build(m, e, tiling) })
	if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
		return nil, err
	}
	grid := runtime.Grid(blocks).On(b.Stream)
	job := square("matmul "+name+", cp.async", size)
	theirs := l.Contenders(KindOf(e, multistage.Sums(e)),
		Problem{M: size, N: size, K: size, A: a.Address(), B: bt.Address(), D: d.Address()})
	job.Contenders = append(theirs,
		Contender{"ours", func() error { return k.Launch(grid, a, bt, d, size, size, size) }})
	results, err := compare(b, job, len(theirs), d, out, tolerance)
	return keepBest(results), errors.Join(err, a.Close(), bt.Close(), d.Close())
}

// square returns a job for the product of square matrices.
func square(group string, size int) Job {
	return Job{Group: group, Name: fmt.Sprint(size),
		Flop: 2 * float64(size) * float64(size) * float64(size), Base: "cuBLAS"}
}
