// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of several shapes, of which some end within a tile, with tiles dealt beforehand and by the hardware.
func Check(t *trial.T) error {
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
		grid := func(p trial.Product) runtime.Config {
			tiles := (p.M + 127) / 128 * ((p.N + tiling.N - 1) / tiling.N)
			if !dynamic {
				tiles = min(tiles, t.Device.Info().SMs)
			}
			return runtime.Grid(tiles)
		}
		err = trial.Products(t, k, grid, trial.Brain, 1.0/200,
			trial.Product{M: 128, N: 256, K: 64}, trial.Product{M: 768, N: 1280, K: 448}, trial.Product{M: 2048, N: 2304, K: 2048}, trial.Product{M: 1, N: 8, K: 8}, trial.Product{M: 333, N: 1000, K: 72})
		if err != nil {
			return fmt.Errorf("%+v: %w", tiling, err)
		}
	}
	return nil
}
