// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package splitk

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_90", "sm_100"}

// tolerance is the error of F32 sums: each MMA adds 16 products, and truncates the sum with a
// relative error of 2^-24. A sum is about as large as the square root of K.
var tolerance = kerneltest.Abs(0x1p-24).TruncatedEvery(16)

// Check multiplies matrices of several shapes, with and without splitting K, and compares the
// products with a host reference.
func Check(t *kerneltest.T) error {
	if err := t.Needs("the TMA", 90, 0); err != nil {
		return err
	}
	k, err := t.Kernel("splitk", func(m *dsl.Module) { Build(m, Default) })
	if err != nil {
		return err
	}
	for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: 128, N: 128, K: 64}, kerneltest.GEMM{M: 1, N: 4, K: 8},
		kerneltest.GEMM{M: 5, N: 12, K: 520},
		kerneltest.GEMM{M: 128, N: 256, K: 16_384}, kerneltest.GEMM{M: 333, N: 516, K: 5000},
	) {
		x, y := Default.Blocks(g.M, g.N, g.K, t.Device.Info().SMs)
		a, b := kerneltest.EdgeMatrix(t, g.M, g.K, kerneltest.BF16, 0),
			kerneltest.EdgeMatrix(t, g.N, g.K, kerneltest.BF16, 1)
		if err := kerneltest.Multiply(t, k, runtime.Grid(x, y), a, b, kerneltest.F32, tolerance,
			nil); err != nil {
			return err
		}
	}
	return nil
}
