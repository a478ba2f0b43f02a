// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"math"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Test holds the kernel for every target, and every shape for one.
func Test(t *testing.T) {
	shape := Shape{Type: isa.Bf16, Width: 128, Causal: true}
	exampletest.Targets(t, shape.Name(), func(m *dsl.Module) { Build(m, shape) }, "sm_80", "sm_90", "sm_120")
	for _, s := range []Shape{{isa.F16, 64, false}, {isa.F16, 128, false}, {isa.Bf16, 64, true}} {
		exampletest.Check(t, s.Name(), "sm_80", func(m *dsl.Module) { Build(m, s) })
	}
}

// TestHopper holds the kernel of sm_90a in two shapes.
func TestHopper(t *testing.T) {
	for _, s := range []Shape{{isa.Bf16, 128, true}, {isa.F16, 64, false}} {
		exampletest.Check(t, "hopper_"+s.Name(), "sm_90a", func(m *dsl.Module) { BuildHopper(m, s) })
	}
}

// TestBlackwell holds the kernel of sm_100 in two shapes.
func TestBlackwell(t *testing.T) {
	for _, s := range []Shape{{isa.Bf16, 128, true}, {isa.F16, 64, false}} {
		exampletest.Check(t, "blackwell_"+s.Name(), "sm_100a", func(m *dsl.Module) { BuildBlackwell(m, s) })
	}
}

// TestReference: equal keys make a mean of the values, and a causal query sees no later one.
func TestReference(t *testing.T) {
	q, k := []float32{1, 2, 3, 4}, []float32{1, 1, 1, 1, 1, 1}
	v := []float32{3, 0, 6, 3, 9, 9}
	for _, test := range []struct {
		causal bool
		want   []float32
	}{{false, []float32{6, 4, 6, 4}}, {true, []float32{4.5, 1.5, 6, 4}}} {
		got := Reference(q, k, v, 2, test.causal)
		for i, x := range test.want {
			if math.Abs(float64(got[i]-x)) > 1e-6 {
				t.Errorf("causal %t: got %v, want %v", test.causal, got, test.want)
			}
		}
	}
}

// TestWrong: a shape that the kernel is not made for is refused.
func TestWrong(t *testing.T) {
	m := dsl.New("m", "sm_80")
	Build(m, Shape{Type: isa.F32, Width: 80})
	if _, err := m.Text(); err == nil || !strings.Contains(err.Error(), "heads of 80 .f32, want 64 or 128 elements of F16 or BF16") {
		t.Error(err)
	}
}
