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
	if t.Device.Info().Capability < 90 {
		return trial.Skip("the TMA came with sm_90, and this is %s", t.Target())
	}
	k, err := t.Kernel("splitk", func(m *dsl.Module) { Build(m, Default) })
	if err != nil {
		return err
	}
	for _, p := range []trial.Product{{M: 128, N: 128, K: 64}, {M: 128, N: 256, K: 16_384}, {M: 1, N: 4, K: 8}, {M: 333, N: 516, K: 5000}} {
		x, y := Default.Blocks(p.M, p.N, p.K, t.Device.Info().SMs)
		a, b := trial.Random(t, p.M, p.K, trial.Brain), trial.Random(t, p.N, p.K, trial.Brain)
		if err := trial.Multiply(t, k, runtime.Grid(x, y), a, b, trial.Single, 1e-5, nil); err != nil {
			return err
		}
	}
	return nil
}
