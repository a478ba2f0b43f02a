// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the targets that the kernels are built for. Versions 1 and 2 need sm_90.
var Targets = []string{"sm_80", "sm_90", "sm_120a"}

// tolerance is half a unit in the last place of BF16, plus the error of F32 sums, which an MMA
// truncates after 16 products.
var tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-24).TruncatedEvery(16))

// Check multiplies matrices of several shapes with every version and every swizzle.
func Check(t *kerneltest.T) error {
	for version, build := range Versions() {
		if version > 0 && t.Device.Info().Capability < 90 {
			t.Note("version %d needs the TMA of sm_90", version)
			continue
		}
		for _, s := range []dsl.Swizzle{dsl.Swizzle32, dsl.Swizzle64, dsl.Swizzle128} {
			tiling := Default
			tiling.Swizzle, tiling.K = s, int(s)/2
			name := fmt.Sprintf("matmul_v%d", version)
			k, err := t.Kernel(name, func(m *dsl.Module) { build(m, tiling) })
			if err != nil {
				return err
			}
			for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
				kerneltest.GEMM{M: tiling.M, N: tiling.N, K: tiling.K}, kerneltest.GEMM{M: 1, N: 2, K: 8},
				kerneltest.GEMM{M: 133, N: 258, K: 40}, kerneltest.GEMM{M: 333, N: 514, K: 200},
				kerneltest.GEMM{M: 3 * tiling.M, N: 5 * tiling.N, K: 7 * tiling.K}, kerneltest.GEMM{M: 2048, N: 1280, K: 2048},
			) {
				if err := multiply(t, k, tiling, g); err != nil {
					return fmt.Errorf("%s with a swizzle of %d bytes: %w", name, s, err)
				}
			}
		}
	}
	return nil
}

// multiply runs a version on random matrices.
func multiply(t *kerneltest.T, k *runtime.Kernel, tiling Tiling, g kerneltest.GEMM) error {
	blocks, err := tiling.Blocks(g.M, g.N, g.K)
	if err != nil {
		return err
	}
	a, b := kerneltest.RandomMatrix(t, g.M, g.K, kerneltest.BF16), kerneltest.RandomMatrix(t, g.N, g.K, kerneltest.BF16)
	return kerneltest.Multiply(t, k, runtime.Grid(blocks), a, b, kerneltest.BF16, tolerance, nil)
}
