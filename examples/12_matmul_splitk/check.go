// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package splitk

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of several shapes, of which some have sums in one part and some in many.
func Check(t *trial.T) error {
	if err := t.Needs("the TMA", 90, 0); err != nil {
		return err
	}
	k, err := t.Kernel("splitk", func(m *dsl.Module) { Build(m, Default) })
	if err != nil {
		return err
	}
	grid := func(p trial.Product) runtime.Config {
		return runtime.Grid(Default.Blocks(p.M, p.N, p.K, t.Device.Info().SMs))
	}
	return trial.Products(t, k, grid, trial.Single, 1e-5,
		trial.Product{M: 128, N: 128, K: 64}, trial.Product{M: 128, N: 256, K: 16_384}, trial.Product{M: 1, N: 4, K: 8}, trial.Product{M: 333, N: 516, K: 5000})
}
