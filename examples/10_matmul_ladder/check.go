// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of several shapes with every version and every swizzle.
func Check(t *trial.T) error {
	for version, build := range Versions() {
		for _, s := range []dsl.Swizzle{dsl.Swizzle32, dsl.Swizzle64, dsl.Swizzle128} {
			tiling := Default
			tiling.Swizzle, tiling.K = s, int(s)/2
			name := fmt.Sprintf("matmul_v%d", version)
			if version > 0 && t.Device.Info().Capability < 90 {
				return trial.Skip("version %d needs the TMA of sm_90; those before it are right", version)
			}
			k, err := t.Kernel(name, func(m *dsl.Module) { build(m, tiling) })
			if err != nil {
				return err
			}
			for _, p := range trial.Within(t, trial.Product.Work, []trial.Product{{M: tiling.M, N: tiling.N, K: tiling.K}, {M: 3 * tiling.M, N: 5 * tiling.N, K: 7 * tiling.K}, {M: 2048, N: 1280, K: 2048}, {M: 1, N: 2, K: 8}, {M: 333, N: 514, K: 200}}...) {
				if err := Multiply(t, k, tiling, p); err != nil {
					return fmt.Errorf("%s with a swizzle of %d: %w", name, s, err)
				}
			}
		}
	}
	return nil
}

// Multiply runs a version on random matrices, and holds the product.
func Multiply(t *trial.T, k *runtime.Kernel, tiling Tiling, p trial.Product) error {
	blocks, err := tiling.Blocks(p.M, p.N, p.K)
	if err != nil {
		return err
	}
	return trial.Multiply(t, k, runtime.Grid(blocks), trial.Random(t, p.M, p.K, trial.Brain), trial.Random(t, p.N, p.K, trial.Brain), trial.Brain, 1.0/200, nil)
}
