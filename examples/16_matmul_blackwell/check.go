// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the targets that the kernel is built for.
var Targets = []string{"sm_100a", "sm_103a"}

// tolerance is half a unit in the last place of BF16, plus the error of F32 sums, which an MMA
// truncates after 16 products.
var tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-24).TruncatedEvery(16))

// Check multiplies matrices of several shapes, some of which are not multiples of the tile. Tiles
// are assigned to blocks in advance, or by the hardware.
func Check(t *kerneltest.T) error {
	if err := t.Needs("tcgen05", 100, 120); err != nil {
		return err
	}
	for _, dynamic := range []bool{false, true} {
		tiling := Default
		tiling.Dynamic = dynamic
		k, err := t.Kernel("matmul", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			return err
		}
		for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
			kerneltest.GEMM{M: 1, N: 8, K: 8}, kerneltest.GEMM{M: 133, N: 136, K: 72}, kerneltest.GEMM{M: 128, N: 256, K: 64},
			kerneltest.GEMM{M: 333, N: 1000, K: 72}, kerneltest.GEMM{M: 768, N: 1280, K: 448}, kerneltest.GEMM{M: 2048, N: 2304, K: 2048},
		) {
			tiles := (g.M + 127) / 128 * ((g.N + tiling.N - 1) / tiling.N)
			if !dynamic {
				tiles = min(tiles, t.Device.Info().SMs)
			}
			a, b := kerneltest.RandomMatrix(t, g.M, g.K, kerneltest.BF16), kerneltest.RandomMatrix(t, g.N, g.K, kerneltest.BF16)
			if err := kerneltest.Multiply(t, k, runtime.Grid(tiles), a, b, kerneltest.BF16, tolerance, nil); err != nil {
				return fmt.Errorf("%+v: %w", tiling, err)
			}
		}
	}
	return nil
}
