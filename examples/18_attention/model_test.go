// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/emutest"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestModel runs the kernel for sm_100 on the model of an SM: two heads that end within a tile.
func TestModel(t *testing.T) {
	d := &trial.T{Device: runtime.On(emutest.New("sm_100a")), Rand: rand.New(rand.NewPCG(1, 2))}
	for _, causal := range []bool{false, true} {
		s, size := Shape{isa.F16, 64, causal}, [3]int{1, 140, 200}
		q, k, v := d.Floats(size[0]*size[1]*s.Width), d.Floats(size[0]*size[2]*s.Width), d.Floats(size[0]*size[2]*s.Width)
		if err := check(d, s, size, trial.F16(q), trial.F16(k), trial.F16(v), runtime.F16.Float32, 2e-3); err != nil {
			t.Error(err)
		}
	}
	s, size := Shape{isa.Bf16, 128, false}, [3]int{1, 128, 160}
	q, k, v := d.Floats(size[1]*s.Width), d.Floats(size[2]*s.Width), d.Floats(size[2]*s.Width)
	if err := check(d, s, size, trial.BF16(q), trial.BF16(k), trial.BF16(v), runtime.BF16.Float32, 1.6e-2); err != nil {
		t.Error(err)
	}
}
