// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden file, and checks and assembles it.
func TestPTX(t *testing.T) {
	m := dsl.New("calls.sm_80", "sm_80")
	Build(m)
	golden.Verify(t, m)
}

// TestRun makes the calls in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// quantized returns the error of Quantize for a format.
func quantized(l *Library, t isa.Type, scale dsl.BlockScale) error {
	_, err := Quantize(l, make([]float32, 6), 2, 3, t, scale)
	return err
}

// TestMistakes checks the errors of calls that cannot be right.
func TestMistakes(t *testing.T) {
	d, err := runtime.Open("emu:sm_80")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l := New(d)
	x, _ := runtime.Alloc[float32](d, 24)
	h, _ := runtime.Alloc[runtime.F16](d, 64)
	long, _ := runtime.Alloc[float32](d, 131072)
	s8, _ := runtime.Alloc[int8](d, 24)
	for _, c := range []struct {
		err  error
		want string
	}{
		{RMSNorm(l, x, x, x, 4, 6, 0), "W has 24 elements, expected 6"},
		{RMSNorm(l, s8, s8, s8, 1, 24, 0), "elements of this type"},
		{Softmax(l, x, nil, 4, 6), "X has no data"},
		{Softmax(l, long, long, 1, 131072), "need clusters"},
		{Attention(l, h, h, h, h, Heads{1, 1, 1, 80, false}), "a width of 64 or 128"},
		{Attention(l, h, h, h, h, Heads{1, 2, 1, 64, true}), "causal"},
		{AttentionBatch(l, h, h, h, h, Batch{Heads: 1, KV: 1, Width: 64, Queries: []int{1}}),
			"as many"},
		{AttentionBatch(l, h, h, h, h, Batch{Heads: 3, KV: 2, Width: 64, Queries: []int{1},
			Keys: []int{1}}), "3 heads of queries and 2 of keys"},
		{AttentionBatch(l, h, h, h, h, Batch{Heads: 1, KV: 1, Width: 64, Queries: []int{-1},
			Keys: []int{1}}), "no tokens"},
		{AddRMSNorm(l, x, nil, x, x, 4, 6, 0), "residual has no data"},
		{CrossEntropyGradient(l, x, x, x, x, nil, 4, 6), "targets has no data"},
		{TopK(l, x, nil, nil, x, x, 4, 6, Sampling{7, 1, 1}), "the 7 largest of 4 rows of 6"},
		{TopK(l, x, nil, nil, x, x, 4, 6, Sampling{6, 0, 1}), "a temperature of 0"},
		{MultiplyScaled(l, nil, nil, nil), "an operand is nil"},
		{quantized(l, isa.F16, dsl.MXFP8), "no block-scaled format has .f16"},
		{quantized(l, isa.E4m3, dsl.NVFP4), "no block-scaled format has .e4m3"},
		{quantized(l, isa.E2m1, dsl.BlockScale{}), "no block-scaled format has .e2m1"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v; want %s", c.err, c.want)
		}
	}
	a, err := Quantize(l, make([]float32, 6), 2, 3, isa.E4m3, dsl.MXFP8)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := runtime.Alloc[runtime.BF16](d, 4)
	if err := MultiplyScaled(l, out, a, a); err == nil ||
		!strings.Contains(err.Error(), "no block-scaled tensor cores") {
		t.Error(err)
	}
}
