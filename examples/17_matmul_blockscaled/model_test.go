// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/blackwell"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestModel multiplies matrices of every format on the model of an SM, on one multiprocessor and on a pair, some of which end within a tile.
func TestModel(t *testing.T) {
	for _, f := range Formats {
		for _, pair := range []bool{false, true} {
			tiling := f.Default(pair)
			d := &trial.T{Device: runtime.On(blackwell.New("sm_100a")), Rand: rand.New(rand.NewPCG(1, 2))}
			k, err := d.Kernel("matmul_"+f.Name, func(m *dsl.Module) { Build(m, f, tiling) })
			if err != nil {
				t.Fatal(err)
			}
			if err := multiply(d, k, f, tiling, trial.Product{M: 200, N: 136, K: 640}); err != nil {
				t.Errorf("%s, pair %v: %v", f.Name, pair, err)
			}
		}
	}
}

// TestModelSync multiplies matrices of the formats of sm_120 on the model.
func TestModelSync(t *testing.T) {
	d := &trial.T{Device: runtime.On(blackwell.New("sm_120a")), Rand: rand.New(rand.NewPCG(1, 2))}
	if err := checkSync(d, trial.Product{M: 200, N: 136, K: 640}); err != nil {
		t.Error(err)
	}
}

// TestModelHalves multiplies with tiles of 64 and 192 columns, every other of which begins in the middle of an atom of scale factors.
func TestModelHalves(t *testing.T) {
	for _, f := range []Format{nvfp4, mxfp8} {
		for _, tiling := range []Tiling{{N: 64, Stages: 2, Group: 8}, {N: 192, Stages: 2, Group: 8}, {N: 192, Stages: 2, Group: 8, Pair: true}} {
			d := &trial.T{Device: runtime.On(blackwell.New("sm_100a")), Rand: rand.New(rand.NewPCG(1, 2))}
			k, err := d.Kernel("matmul_"+f.Name, func(m *dsl.Module) { Build(m, f, tiling) })
			if err != nil {
				t.Fatal(err)
			}
			if err := multiply(d, k, f, tiling, trial.Product{M: 128, N: 456, K: 512}); err != nil {
				t.Errorf("%s, %+v: %v", f.Name, tiling, err)
			}
		}
	}
}
