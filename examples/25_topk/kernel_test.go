// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package topk

import (
	"math"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it.
func TestPTX(t *testing.T) {
	for _, target := range Targets {
		m := dsl.New("topk_f32_50."+target, target)
		Build(m, isa.F32, 50)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernels in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestReference checks the order of equal elements and of NaN, and the sampled element.
func TestReference(t *testing.T) {
	x := []float64{1, math.NaN(), 3, 1, 3}
	for _, c := range []struct {
		topP, random float64
		token        int
	}{{1, 0.1, 2}, {1, 0.6, 4}, {0.4, 0.9, 2}} {
		columns, token := Reference(x, 5, 0.1, c.topP, c.random)
		if want := []int{2, 4, 0, 3, 1}; !slices.Equal(columns, want) || token != c.token {
			t.Errorf("%+v: columns %v, want %v; token %d", c, columns, want, token)
		}
	}
}
