// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of several shapes, with clusters and without.
func Check(t *trial.T) error {
	if t.Target() != "sm_90a" {
		return trial.Skip("wgmma is for sm_90a, and this is %s", t.Target())
	}
	clustered := Default
	clustered.Cluster = 2
	for _, tiling := range []Tiling{Default, clustered, For(3072, 3072, 132), For(128, 128, 132)} {
		k, err := t.Kernel("matmul", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			return err
		}
		for _, p := range trial.Within(t, trial.Product.Work, []trial.Product{{M: 256, N: 256, K: 64}, {M: 768, N: 1280, K: 448}, {M: 2048, N: 2304, K: 2048}, {M: 1, N: 8, K: 8}, {M: 333, N: 1000, K: 72}}...) {
			if err := Multiply(t, k, tiling, p); err != nil {
				return fmt.Errorf("%+v: %w", tiling, err)
			}
		}
	}
	return nil
}

// Blocks is the grid of a launch: the multiprocessors, in whole clusters, but no more than there is work.
func Blocks(t Tiling, p trial.Product, multiprocessors int) int {
	tiles := (t.Tiles(p.M, p.N) + t.Cluster - 1) / t.Cluster * t.Cluster
	return min(multiprocessors/t.Cluster*t.Cluster, tiles)
}

// Multiply runs the kernel on random matrices, and holds the product.
func Multiply(t *trial.T, k *runtime.Kernel, tiling Tiling, p trial.Product) error {
	grid := runtime.Grid(Blocks(tiling, p, t.Device.Info().SMs))
	return trial.Multiply(t, k, grid, trial.Random(t, p.M, p.K, trial.Brain), trial.Random(t, p.N, p.K, trial.Brain), trial.Brain, 1.0/200, nil)
}
