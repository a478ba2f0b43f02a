// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package fp8

import (
	"errors"
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_90a"}

// tolerance is half a unit in the last place of BF16, plus the error of sums of 128 FP8 products:
// wgmma keeps 13 fraction bits, relative to the largest product.
var tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-12))

// Check multiplies random matrices of several shapes, some of which are not multiples of the
// tile, and compares the products with a host reference. Some rows have an edge value. In large
// matrices, one row has scale factors of zero, and one scale factor is NaN.
func Check(t *kerneltest.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	k, err := t.Kernel("matmul_fp8", Build)
	if err != nil {
		return err
	}
	e4m3 := kerneltest.Narrow(isa.E4m3)
	for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: 1, N: 2, K: 16}, kerneltest.GEMM{M: 133, N: 190, K: 336},
		kerneltest.GEMM{M: 128, N: 128, K: 128},
		kerneltest.GEMM{M: 333, N: 190, K: 336}, kerneltest.GEMM{M: 384, N: 640, K: 1152},
		kerneltest.GEMM{M: 2048, N: 1920, K: 4096},
	) {
		countA, _ := Factors(g.M, g.K)
		_, countB := Factors(g.N, g.K)
		factorsA, factorsB := t.Float32s(countA), t.Float32s(countB)
		as, bs := kerneltest.Random(t, e4m3, g.M*g.K), kerneltest.Random(t, e4m3, g.N*g.K)
		kerneltest.EdgeRows(t, e4m3, g.M, g.K, 0, func(row, k int) *uint8 { return &as[row*g.K+k] })
		kerneltest.EdgeRows(t, e4m3, g.N, g.K, 1, func(row, k int) *uint8 { return &bs[row*g.K+k] })
		tiles, steps := (g.M+Block-1)/Block, (g.K+Block-1)/Block
		if g.M > 64 {
			factorsA[60], factorsA[62] = 0, float32(math.NaN())
			for i := range steps {
				factorsA[i*tiles*Block+60] = 0
			}
		}
		a := kerneltest.MatrixOf(g.M, g.K, as, func(row, col int) float64 {
			return e4m3.Float(as[row*g.K+col]) * float64(factorsA[col/Block*tiles*Block+row])
		})
		b := kerneltest.MatrixOf(g.N, g.K, bs, func(row, col int) float64 {
			return e4m3.Float(bs[row*g.K+col]) * float64(factorsB[row/Block*steps+col/Block])
		})
		more := map[string]kerneltest.Matrix{
			"factors_a": kerneltest.MatrixOf(1, countA, factorsA, nil),
			"factors_b": kerneltest.MatrixOf(1, countB, factorsB, nil),
		}
		grid := runtime.Grid(t.Device.Info().SMs)
		if err := errors.Join(Takes(g.N, g.K),
			kerneltest.Multiply(t, k, grid, a, b, kerneltest.BF16, tolerance, more)); err != nil {
			return err
		}
	}
	return nil
}

// Speed notes the speed of the kernel for random matrices.
func Speed(t *kerneltest.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	k, err := t.Kernel("matmul_fp8", Build)
	if err != nil {
		return err
	}
	for _, n := range []int{4096, 8192} {
		countA, countB := Factors(n, n)
		xs := t.Uint32s(n * n / 4)
		bytes := make([]uint8, 0, n*n)
		for _, x := range xs {
			x &= 0x77777777 // no NaN
			bytes = append(bytes, uint8(x), uint8(x>>8)|0x80, uint8(x>>16), uint8(x>>24))
		}
		a, e1 := runtime.Upload(t.Device, bytes)
		factorsA, e2 := runtime.Upload(t.Device, t.Float32s(countA))
		factorsB, e3 := runtime.Upload(t.Device, t.Float32s(countB))
		d, e4 := runtime.Alloc[runtime.BF16](t.Device, n*n)
		if err := errors.Join(e1, e2, e3, e4); err != nil {
			return err
		}
		left, e1 := k.TensorMap("a", a, n, n)
		right, e2 := k.TensorMap("b", a, n, n)
		if err := errors.Join(e1, e2); err != nil {
			return err
		}
		grid := runtime.Grid(t.Device.Info().SMs)
		took, err := t.Median(func() error {
			return k.Launch(grid, left, right, factorsA, factorsB, d, n, n, n)
		})
		if err := errors.Join(err, a.Close(), factorsA.Close(), factorsB.Close(),
			d.Close()); err != nil {
			return err
		}
		t.Note("%d: %.0f TFLOP/s", n, 2*float64(n)*float64(n)*float64(n)/took.Seconds()/1e12)
	}
	return nil
}
