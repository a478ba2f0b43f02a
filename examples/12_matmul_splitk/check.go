// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package splitk

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the targets that the kernel is built for.
var Targets = []string{"sm_90", "sm_100"}

// tolerance is the error of F32 sums: an MMA of 16 products truncates a sum of about the square
// root of K to 2^-24.
var tolerance = kerneltest.Abs(0x1p-24).TruncatedEvery(16)

// Check multiplies matrices of several shapes, some with K in one part and some with K in many
// parts.
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
