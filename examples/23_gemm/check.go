// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the library is tested.
var Targets = []string{"sm_80", "sm_90a", "sm_100a", "sm_120a"}

// Tolerances of sums: sum16 for 16-bit types, sum32 for TF32 and for F32 as three products of
// TF32, and sum64 for F64.
var (
	sum16 = kerneltest.Abs(0x1p-24).TruncatedEvery(8)
	sum32 = kerneltest.Abs(0x1p-24).TruncatedEvery(4)
	sum64 = kerneltest.Abs(0x1.8p-54).RoundedEvery(1)
)

// Check multiplies matrices of every type in every combination of layouts, and compares the
// products with a host reference. The library has to pad some sizes, because the kernels do not
// support them.
func Check(t *kerneltest.T) error {
	l := New(t.Device)
	for _, g := range []kerneltest.GEMM{{M: 1, N: 1, K: 1}, {M: 37, N: 53, K: 29},
		{M: 64, N: 72, K: 48}} {
		for stored := range 4 {
			if g.M == 1 && stored > 0 {
				break
			}
			turnA, turnB := stored&1 != 0, stored&2 != 0
			err := errors.Join(
				check(t, l, g, turnA, turnB, kerneltest.BF16, kerneltest.BF16, Options{},
					kerneltest.BF16.ULPs(0.5).Plus(sum16)),
				check(t, l, g, turnA, turnB, kerneltest.F16, kerneltest.F32, Options{}, sum16),
				check(t, l, g, turnA, turnB, kerneltest.F16, kerneltest.F16, Options{},
					kerneltest.F16.ULPs(0.5).Plus(sum16)),
				check(t, l, g, turnA, turnB, kerneltest.F32, kerneltest.F32, Options{}, sum32),
				check(t, l, g, turnA, turnB, kerneltest.TF32, kerneltest.F32, Options{TF32: true},
					sum32),
				check(t, l, g, turnA, turnB, kerneltest.F64, kerneltest.F64, Options{}, sum64),
				check(t, l, g, turnA, turnB, kerneltest.S8, kerneltest.S32, Options{},
					kerneltest.Tolerance{}),
				checkFP8(t, l, g, turnA, turnB),
				check(t, l, g, turnA, turnB, kerneltest.U8, kerneltest.F32, Options{Alpha: 0.5},
					kerneltest.Tolerance{}),
				check(t, l, g, turnA, turnB, kerneltest.BF16, kerneltest.F32,
					Options{Alpha: -0.5, Beta: 2}, sum16),
				check(t, l, g, turnA, turnB, kerneltest.F64, kerneltest.F64,
					Options{Alpha: 3, Beta: -1}, kerneltest.Abs(3*0x1p-53).RoundedEvery(1)),
			)
			if err != nil {
				return errors.Join(err, l.Close())
			}
		}
	}
	return l.Close()
}

// sum8 is the tolerance of sums of FP8, of which the tensor cores keep 13 fractional bits.
var sum8 = kerneltest.Abs(0x1.8p-14).TruncatedEvery(32)

// scaleA and scaleB are the scale factors of FP8 operands.
const scaleA, scaleB = 0.5, -0.25

// checkFP8 multiplies matrices of E4M3, with and without scale factors, if the target has a
// kernel for them.
func checkFP8(t *kerneltest.T, l *Library, g kerneltest.GEMM, turnA, turnB bool) error {
	if t.Target() != "sm_90a" {
		return nil
	}
	of := kerneltest.Narrow(isa.E4m3)
	in := kerneltest.As[E4M3](of)
	ofA, e1 := runtime.Upload(t.Device, []float32{scaleA})
	ofB, e2 := runtime.Upload(t.Device, []float32{scaleB})
	err := errors.Join(e1, e2)
	if err == nil {
		err = errors.Join(
			check(t, l, g, turnA, turnB, in, kerneltest.F32, Options{}, sum8),
			check(t, l, g, turnA, turnB, in, kerneltest.BF16, Options{ScaleA: ofA, ScaleB: ofB},
				kerneltest.BF16.ULPs(0.5).Plus(sum8)),
			ofA.Close(), ofB.Close(),
		)
	}
	return err
}

// Variants returns one test configuration for each kind of call that the library supports.
func Variants() []kerneltest.Variant {
	call := func(option, name string, targets []string,
		check func(*kerneltest.T, *Library, kerneltest.GEMM) error, why string) kerneltest.Variant {
		return kerneltest.Variant{
			Option: option, Name: name, Targets: targets, Build: Build, Why: why,
			Check: func(t *kerneltest.T) error {
				l := New(t.Device)
				var errs []error
				for _, g := range []kerneltest.GEMM{{M: 37, N: 53, K: 29},
					{M: 66, N: 130, K: 201}} {
					errs = append(errs, check(t, l, g))
				}
				return errors.Join(append(errs, l.Close())...)
			},
		}
	}
	return []kerneltest.Variant{
		call("BF16 GEMM call", "bf16", Targets,
			func(t *kerneltest.T, l *Library, g kerneltest.GEMM) error {
				return check(t, l, g, false, true, kerneltest.BF16, kerneltest.BF16, Options{},
					kerneltest.BF16.ULPs(0.5).Plus(sum16))
			}, "the sum is truncated to F32 every 8 products, and rounded to BF16"),
		call("Ampere GEMM call", "f16, the result in f32", Targets[:1],
			func(t *kerneltest.T, l *Library, g kerneltest.GEMM) error {
				return check(t, l, g, true, false, kerneltest.F16, kerneltest.F32, Options{},
					kerneltest.Abs(0x1p-25).TruncatedEvery(8))
			}, "the sum is truncated to F32 every 8 products"),
		call("Ampere GEMM call", "s8, the result in s32", Targets[:1],
			func(t *kerneltest.T, l *Library, g kerneltest.GEMM) error {
				return check(t, l, g, false, false, kerneltest.S8, kerneltest.S32, Options{},
					kerneltest.Tolerance{})
			}, "integers are exact"),
	}
}

// check multiplies random matrices that are stored by rows or by columns, and compares the
// product with a host reference. Some rows of A and columns of B have an edge value, unless an
// element is computed as three numbers of TF32, of which infinity has none, or added to an old
// one, with a rounding error relative to the edge value.
func check[D, E runtime.Element](t *kerneltest.T, l *Library, g kerneltest.GEMM, turnA, turnB bool,
	in kerneltest.Format[E], out kerneltest.Format[D], o Options, tolerance kerneltest.Tolerance,
) error {
	as, bs, ds := kerneltest.Random(t, in, g.M*g.K), kerneltest.Random(t, in, g.K*g.N),
		kerneltest.Random(t, out, g.M*g.N)
	atA := func(row, k int) *E {
		if turnA {
			return &as[k*g.M+row]
		}
		return &as[row*g.K+k]
	}
	atB := func(col, k int) *E {
		if turnB {
			return &bs[col*g.K+k]
		}
		return &bs[k*g.N+col]
	}
	if o.Beta == 0 && (in.Name != kerneltest.F32.Name || o.TF32) {
		kerneltest.EdgeRows(t, in, g.M, g.K, 0, atA)
		kerneltest.EdgeRows(t, in, g.N, g.K, 1, atB)
	}
	if o.Beta == 0 { // the old D is not read
		ds = slices.Repeat([]D{out.From(math.NaN())}, len(ds))
	}
	a, e1 := runtime.Upload(t.Device, as)
	b, e2 := runtime.Upload(t.Device, bs)
	d, e3 := runtime.Upload(t.Device, ds)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	left, right := By(a, g.M, g.K), By(b, g.K, g.N)
	if turnA {
		left = By(a, g.K, g.M).T()
	}
	if turnB {
		right = By(b, g.N, g.K).T()
	}
	product := By(d, g.M, g.N)
	what, err := Describe(l, product, left, right, o)
	if err != nil {
		return err
	}
	if err := Multiply(l, product, left, right, o); err != nil {
		return err
	}
	got, err := runtime.Download(d)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	// The reference computes beta * D as N more products of each sum.
	alpha := o.resolve().Alpha
	if o.ScaleA != nil {
		alpha = scaleA * scaleB
	}
	err = t.CompareGEMM(kerneltest.GEMM{M: g.M, N: g.N, K: g.K + g.N},
		func(row, col int) float64 { return out.Float(got[row*g.N+col]) },
		func(row, k int) float64 {
			switch {
			case k >= g.K && o.Beta == 0:
				return 0
			case k >= g.K:
				return o.Beta * out.Float(ds[row*g.N+k-g.K])
			}
			return alpha * in.Float(*atA(row, k))
		},
		func(col, k int) float64 {
			switch {
			case k >= g.K && k-g.K == col:
				return 1
			case k >= g.K:
				return 0
			}
			return in.Float(*atB(col, k))
		}, tolerance)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return errors.Join(a.Close(), b.Close(), d.Close())
}

// Build adds to m the kernels that pad, transpose and convert, each for one type.
func Build(m *dsl.Module) {
	buildPad[dsl.B16](m)
	buildTranspose[dsl.B16](m)
	buildFinish[dsl.F32, dsl.F32, dsl.BF16](m, true)
}
