// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/emutest"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestModel multiplies on the model of an SM, with tiles dealt beforehand and by the hardware.
func TestModel(t *testing.T) {
	for _, dynamic := range []bool{false, true} {
		tiling := Default
		tiling.Dynamic = dynamic
		d := &trial.T{Device: runtime.On(emutest.New("sm_100a")), Rand: rand.New(rand.NewPCG(1, 2))}
		k, err := d.Kernel("matmul", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			t.Fatal(err)
		}
		grid := func(trial.Product) runtime.Config {
			if dynamic {
				return runtime.Grid(4)
			}
			return runtime.Grid(3)
		}
		if err := trial.Products(d, k, grid, trial.Brain, 1.0/200, trial.Product{M: 200, N: 264, K: 200}); err != nil {
			t.Errorf("dynamic %v: %v", dynamic, err)
		}
	}
}
