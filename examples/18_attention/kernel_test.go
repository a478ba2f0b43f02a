// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it: one shape for every
// target, and every shape for one.
func TestPTX(t *testing.T) {
	shape := Shape{Type: isa.Bf16, Width: 128, Causal: true}
	narrow := Shape{Type: isa.F16, Width: 64}
	for _, c := range []struct {
		prefix, target string
		shape          Shape
		build          func(*dsl.Module, Shape)
	}{
		{"", "sm_80", shape, Build},
		{"", "sm_90", shape, Build},
		{"", "sm_120", shape, Build},
		{"", "sm_80", narrow, Build},
		{"", "sm_80", Shape{isa.F16, 128, false}, Build},
		{"", "sm_80", Shape{isa.Bf16, 64, true}, Build},
		{"hopper_", "sm_90a", shape, BuildHopper},
		{"hopper_", "sm_90a", narrow, BuildHopper},
		{"hopper_", "sm_90a", Shape{isa.Bf16, 128, false}, BuildHopper},
		{"hopper_", "sm_90a", Shape{isa.Bf16, 256, true}, BuildHopper},
		{"hopper_", "sm_90a", Shape{isa.E4m3, 64, false}, BuildFP8},
		{"hopper_", "sm_90a", Shape{isa.E4m3, 128, true}, BuildFP8},
		{"hopper_", "sm_90a", Shape{isa.E4m3, 256, false}, BuildFP8},
		{"transpose_", "sm_90a", Shape{isa.E4m3, 128, false}, BuildTransposed},
		{"blackwell_", "sm_100a", shape, BuildBlackwell},
		{"blackwell_", "sm_100a", narrow, BuildBlackwell},
	} {
		m := dsl.New(c.prefix+c.shape.Name()+"."+c.target, c.target)
		c.build(m, c.shape)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernels in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestReference checks that equal keys give the mean of the values, and that a causal query sees no
// later key.
func TestReference(t *testing.T) {
	q, k := []float64{1, 2, 3, 4}, []float64{1, 1, 1, 1, 1, 1}
	v := []float64{3, 0, 6, 3, 9, 9}
	for _, test := range []struct {
		causal bool
		want   []float64
	}{{false, []float64{6, 4, 6, 4}}, {true, []float64{4.5, 1.5, 6, 4}}} {
		got := Reference(q, k, v, 2, test.causal)
		for i, x := range test.want {
			if math.Abs(got[i]-x) > 1e-12 {
				t.Errorf("causal %t: got %v, want %v", test.causal, got, test.want)
			}
		}
	}
}

// TestShape checks that unsupported shapes are rejected.
func TestShape(t *testing.T) {
	m := dsl.New("m", "sm_80")
	Build(m, Shape{Type: isa.F32, Width: 80})
	if _, err := m.Text(); err == nil ||
		!strings.Contains(err.Error(), "heads of 80 .f32, expected 64 or 128 elements of F16 or BF16") {
		t.Error(err)
	}
}
