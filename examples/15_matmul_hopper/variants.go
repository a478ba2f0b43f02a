// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Tolerances of F32 sums. TF32 sums are truncated after every 8 products. FP8 sums keep 13
// fractional bits, relative to the largest of 32 products and the previous sum.
var (
	sum16 = kerneltest.Abs(0x1p-24).TruncatedEvery(16)
	sum32 = kerneltest.Abs(0x1p-24).TruncatedEvery(8)
	sum8  = kerneltest.Abs(0x1p-13).TruncatedEvery(32)
)

// Variants returns one test configuration for each option of the kernel.
func Variants() []kerneltest.Variant {
	tall, narrow, low, square := Default, Default, Default, Default
	tall.M, tall.N = 256, 128
	narrow.N, narrow.Stages = 16, 8
	low.M, low.N, low.Stages = 64, 16, 8
	square.M, square.N = 192, 192
	wide, slim := Default, Default
	wide.N, slim.M, slim.N = 160, 256, 96
	bf16 := kerneltest.BF16.ULPs(0.5).Plus(sum16)
	list := []kerneltest.Variant{
		variant("element types", "f16", Options{Type: isa.F16}, kerneltest.F16, kerneltest.F16,
			kerneltest.F16.ULPs(0.5).Plus(sum16)),
		variant("element types", "tf32", Options{Type: isa.Tf32}, kerneltest.TF32, kerneltest.F32,
			sum32),
		variant("element types", "s8", Options{Type: isa.S8}, kerneltest.S8, kerneltest.S32,
			kerneltest.Tolerance{}),
		variant("element types", "u8", Options{Type: isa.U8}, kerneltest.U8, kerneltest.S32,
			kerneltest.Tolerance{}),
		variant("element types", "e4m3", Options{Type: isa.E4m3}, kerneltest.Narrow(isa.E4m3),
			kerneltest.BF16, kerneltest.BF16.ULPs(0.5).Plus(sum8)),
		variant("element types", "e4m3, result in f32", Options{Type: isa.E4m3, D: isa.F32},
			kerneltest.Narrow(isa.E4m3), kerneltest.F32, sum8),
		variant("one scale per matrix", "e4m3", Options{Type: isa.E4m3, Scale: true},
			kerneltest.Narrow(isa.E4m3), kerneltest.BF16, kerneltest.BF16.ULPs(0.5).Plus(sum8)),
		variant("one scale per matrix", "e5m2", Options{Type: isa.E5m2, Scale: true},
			kerneltest.Narrow(isa.E5m2), kerneltest.BF16, kerneltest.BF16.ULPs(0.5).Plus(sum8)),
		variant("tile shapes", "256x128", Options{Tiling: tall}, kerneltest.BF16, kerneltest.BF16,
			bf16),
		variant("tile shapes", "128x16, transposed result",
			Options{Tiling: narrow, TransposeD: true}, kerneltest.BF16, kerneltest.BF16, bf16),
		variant("tile shapes", "192x192", Options{Tiling: square}, kerneltest.BF16, kerneltest.BF16,
			bf16),
		variant("tile shapes", "64x16, transposed result", Options{Tiling: low, TransposeD: true},
			kerneltest.BF16, kerneltest.BF16, bf16),
		variant("tile shapes", "128x160", Options{Tiling: wide}, kerneltest.BF16, kerneltest.BF16,
			bf16),
		variant("tile shapes", "256x96", Options{Tiling: slim}, kerneltest.BF16, kerneltest.BF16,
			bf16),
		variant("K divided in a cluster", "128x16 by 4",
			Options{Tiling: narrow, TransposeD: true, Split: 4}, kerneltest.BF16, kerneltest.BF16,
			bf16),
		variant("K divided in a cluster", "64x16 by 2",
			Options{Tiling: low, TransposeD: true, Split: 2}, kerneltest.BF16, kerneltest.BF16,
			bf16),
		variant("stream-K", "128x256", Options{StreamK: true}, kerneltest.BF16, kerneltest.BF16,
			bf16),
		variant("stream-K", "128x16, transposed result",
			Options{Tiling: narrow, TransposeD: true, StreamK: true}, kerneltest.BF16,
			kerneltest.BF16, bf16),
	}
	for _, side := range []string{"TT", "NN", "NT"} {
		// BLAS names: in an A that is "T" and in a B that is "N", the elements along K are
		// contiguous.
		o := Options{TransposeA: side[0] == 'N', TransposeB: side[1] == 'T'}
		list = append(list,
			variant("layouts", "bf16, "+side, o, kerneltest.BF16, kerneltest.BF16, bf16))
	}
	return list
}

// variant returns a test configuration that runs the kernel for sizes that are not multiples of
// the tile.
func variant[E, D runtime.Element](option, name string, o Options, in kerneltest.Format[E],
	out kerneltest.Format[D],
	tolerance kerneltest.Tolerance,
) kerneltest.Variant {
	if o = o.resolve(); o.Tiling.M == 0 {
		o.Tiling = Default
	}
	o.Tiling = o.Tiling.Deep(o.Type)
	why := "the sum is truncated to F32 after each MMA, and D is rounded"
	switch o.Type {
	case isa.S8, isa.U8:
		why = "integers are exact"
	case isa.E4m3, isa.E5m2:
		why = "the tensor cores keep 13 fractional bits of sums of FP8"
	}
	return kerneltest.Variant{
		Option: option, Name: name, Targets: Targets, Why: why,
		Build: func(m *dsl.Module) { BuildWith(m, o) },
		Check: func(t *kerneltest.T) error {
			var errs []error
			for _, g := range []kerneltest.GEMM{{M: 8, N: 8, K: 16}, {M: 136, N: 264, K: 400}} {
				if o.Split > 1 && g.K < o.Split*o.Tiling.K {
					g.K = o.Split * o.Tiling.K
				}
				errs = append(errs, check(t, o, g, in, out, tolerance))
			}
			return errors.Join(errs...)
		},
	}
}

// check runs the kernel on random matrices with edge values in some rows, and compares the
// product with a host reference.
func check[E, D runtime.Element](t *kerneltest.T, o Options, g kerneltest.GEMM,
	in kerneltest.Format[E], out kerneltest.Format[D],
	tolerance kerneltest.Tolerance,
) error {
	k, err := t.Kernel("matmul", func(m *dsl.Module) { BuildWith(m, o) })
	if err != nil {
		return err
	}
	as, bs := kerneltest.Random(t, in, g.M*g.K), kerneltest.Random(t, in, g.N*g.K)
	at := func(transposed bool, row, col, rows, cols int) int {
		if transposed {
			return col*rows + row
		}
		return row*cols + col
	}
	kerneltest.EdgeRows(t, in, g.M, g.K, 0,
		func(row, k int) *E { return &as[at(o.TransposeA, row, k, g.M, g.K)] })
	kerneltest.EdgeRows(t, in, g.N, g.K, 1,
		func(row, k int) *E { return &bs[at(o.TransposeB, row, k, g.N, g.K)] })
	ds := make([]D, g.M*g.N)
	blocks := o.Tiling.Blocks(g.M, g.N, t.Device.Info().SMs)
	if o.StreamK {
		blocks = 5
	}
	if o.Split > 1 {
		blocks = o.Tiling.Tiles(g.M, g.N) * o.Split
	}
	partials, flags := o.Tiling.Parts(blocks)
	signals, scale := make([]uint32, flags), 1.0
	known := map[string]any{
		"a": kerneltest.In(as).Tensor(stored(o.TransposeA, g.M, g.K)),
		"b": kerneltest.In(bs).Tensor(stored(o.TransposeB, g.N, g.K)),
		"d": kerneltest.InOut(ds).Tensor(stored(o.TransposeD, g.M, g.N)), "m": g.M, "n": g.N,
		"k":        g.K,
		"partials": kerneltest.InOut(make([]float32, partials)), "flags": kerneltest.InOut(signals),
		"scale_a": kerneltest.In([]float32{1.5}), "scale_b": kerneltest.In([]float32{-0.25}),
	}
	if o.Scale {
		scale = 1.5 * -0.25
	}
	var args []any
	for _, p := range k.Params() {
		args = append(args, known[p.Name])
	}
	if err := t.Launch(k, runtime.Grid(blocks), args...); err != nil {
		return fmt.Errorf("%s: %w", g, err)
	}
	for i, n := range signals {
		if n != 0 {
			return fmt.Errorf("%s: semaphore %d is %d after the launch, expected 0", g, i, n)
		}
	}
	return t.CompareGEMM(g,
		func(row, col int) float64 { return out.Float(ds[at(o.TransposeD, row, col, g.M, g.N)]) },
		func(row, k int) float64 {
			return scale * in.Float(as[at(o.TransposeA, row, k, g.M, g.K)])
		},
		func(row, k int) float64 { return in.Float(bs[at(o.TransposeB, row, k, g.N, g.K)]) },
		tolerance)
}

// stored returns the numbers of rows and columns of a matrix as it is stored in memory.
func stored(transposed bool, rows, cols int) (int, int) {
	if transposed {
		rows, cols = cols, rows
	}
	return rows, cols
}
