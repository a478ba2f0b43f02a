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
	if c := t.Device.Info().Capability; c < 100 || c >= 120 {
		return trial.Skip("tcgen05 is for sm_100 and its kin, and this is %s", t.Target())
	}
	for _, dynamic := range []bool{false, true} {
		tiling := Default
		tiling.Dynamic = dynamic
		k, err := t.Kernel("matmul", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			return err
		}
		for _, p := range []trial.Product{{M: 128, N: 256, K: 64}, {M: 768, N: 1280, K: 448}, {M: 2048, N: 2304, K: 2048}, {M: 1, N: 8, K: 8}, {M: 333, N: 1000, K: 72}} {
			tiles := (p.M + 127) / 128 * ((p.N + tiling.N - 1) / tiling.N)
			if !dynamic {
				tiles = min(tiles, t.Device.Info().SMs)
			}
			a, b := trial.Random(t, p.M, p.K, trial.Brain), trial.Random(t, p.N, p.K, trial.Brain)
			if err := trial.Multiply(t, k, runtime.Grid(tiles), a, b, trial.Brain, 1.0/200, nil); err != nil {
				return fmt.Errorf("%+v: %w", tiling, err)
			}
		}
	}
	return nil
}
