// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_90a"}

// tolerance is half a unit in the last place of BF16, plus the error of F32 sums, which are
// truncated after every 16 products.
var tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-24).TruncatedEvery(16))

// Check multiplies matrices of several shapes, with and without clusters, in tiles of several
// widths, and compares the products with a host reference.
func Check(t *kerneltest.T) error {
	if t.Target() != "sm_90a" {
		return kerneltest.Skip("wgmma requires sm_90a, and the device is %s", t.Target())
	}
	clustered := Default
	clustered.Cluster = 2
	for _, tiling := range []Tiling{Default, clustered, For(3072, 3072, 132), For(128, 128, 132)} {
		k, err := t.Kernel("matmul", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			return err
		}
		for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
			kerneltest.GEMM{M: 1, N: 8, K: 8}, kerneltest.GEMM{M: 133, N: 136, K: 72},
			kerneltest.GEMM{M: 256, N: 256, K: 64},
			kerneltest.GEMM{M: 333, N: 1000, K: 72}, kerneltest.GEMM{M: 768, N: 1280, K: 448},
			kerneltest.GEMM{M: 2048, N: 2304, K: 2048},
		) {
			if err := Multiply(t, k, tiling, g); err != nil {
				return fmt.Errorf("%+v: %w", tiling, err)
			}
		}
	}
	return nil
}

// Multiply runs the kernel on random matrices with edge values in some rows, and compares the
// product with a host reference.
func Multiply(t *kerneltest.T, k *runtime.Kernel, tiling Tiling, g kerneltest.GEMM) error {
	grid := runtime.Grid(tiling.Blocks(g.M, g.N, t.Device.Info().SMs))
	a, b := kerneltest.EdgeMatrix(t, g.M, g.K, kerneltest.BF16, 0),
		kerneltest.EdgeMatrix(t, g.N, g.K, kerneltest.BF16, 1)
	return kerneltest.Multiply(t, k, grid, a, b, kerneltest.BF16, tolerance, nil)
}
