// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package simt

import (
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// tolerance is the error of F32 sums: each addition has a relative error of 2^-24. A sum is about
// as large as the square root of the number of its terms.
var tolerance = kerneltest.Abs(0x1p-24).RoundedEvery(1)

// Check multiplies matrices of several shapes, and compares the products with a host reference.
func Check(t *kerneltest.T) error {
	k, err := t.Kernel("matmul_simt", Build)
	if err != nil {
		return err
	}
	for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: tile, N: tile, K: depth},
		kerneltest.GEMM{M: 3 * tile, N: tile, K: 5 * depth},
		kerneltest.GEMM{M: tile, N: 5 * tile, K: 4096}, kerneltest.GEMM{M: 1024, N: 896, K: 1000},
	) {
		a, b := t.Float32s(g.M*g.K), t.Float32s(g.K*g.N)
		d := make([]float32, g.M*g.N)
		err := t.Launch(k, runtime.Grid(g.N/tile, g.M/tile),
			kerneltest.In(a), kerneltest.In(b), kerneltest.Out(d), g.N, g.K)
		if err != nil {
			return err
		}
		// Row col of the second matrix that CompareGEMM expects is column col of B.
		err = t.CompareGEMM(g, func(row, col int) float64 { return float64(d[row*g.N+col]) },
			func(row, k int) float64 { return float64(a[row*g.K+k]) },
			func(col, k int) float64 { return float64(b[k*g.N+col]) }, tolerance)
		if err != nil {
			return err
		}
	}
	return nil
}
