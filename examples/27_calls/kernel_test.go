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

// compressed returns the error of Compress for a row.
func compressed[E runtime.Element](l *Library, row []E, cols int) error {
	_, err := Compress(l, row, 1, cols)
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
		{Attention(l, h, h, h, h, Heads{1, 1, 0, 64, true}), "positive numbers"},
		{AttentionBatch(l, h, h, h, h, Batch{Heads: 1, KV: 1, Width: 64, Queries: []int{1}}),
			"as many"},
		{AttentionBatch(l, h, h, h, h, Batch{Heads: 3, KV: 2, Width: 64, Queries: []int{1},
			Keys: []int{1}}), "3 heads of queries and 2 of keys"},
		{AttentionBatch(l, h, h, h, h, Batch{Heads: 1, KV: 1, Width: 64, Queries: []int{-1},
			Keys: []int{1}}), "negative number of tokens"},
		{AddRMSNorm(l, x, nil, x, x, 4, 6, 0), "residual has no data"},
		{CrossEntropyGradient(l, x, x, x, x, nil, 4, 6), "targets has no data"},
		{TopK(l, x, nil, nil, x, x, 4, 6, Sampling{7, 1, 1}), "the 7 largest of 4 rows of 6"},
		{TopK(l, x, nil, nil, x, x, 4, 6, Sampling{6, 0, 1}), "a temperature of 0"},
		{MultiplyScaled(l, nil, nil, nil), "an operand is nil"},
		{AttentionGradient(l, Gradients[runtime.F16]{}, h, h, h, h, Heads{1, 1, 1, 64, false}),
			"the gradient of Q has no data"},
		{AttentionGradient(l, Gradients[float32]{}, x, x, x, x, Heads{1, 1, 1, 64, false}),
			"elements of this type"},
		{MLADecode(l, h, h, nil, Latent{}), "the cache has no data"},
		{MLADecode(l, h, h, h, Latent{Heads: 1, PageTokens: 48}), "a multiple of 32"},
		{MLADecode(l, h, h, h, Latent{Heads: 1, PageTokens: 32, Lengths: []int{1}}), "as many"},
		{MLADecode(l, h, h, h, Latent{Heads: 1, PageTokens: 32, Lengths: []int{33},
			Pages: [][]int{{0}}}), "33 tokens, expected 1 to 32"},
		{MLADecode(l, h, h, h, Latent{Heads: 1, PageTokens: 32, Lengths: []int{1},
			Pages: [][]int{{0}}}), "page 0, but the cache has 0 pages"},
		{NormRope(l, h, h, h, nil, nil, Rotation{1, 1, 64, 0}), "cosines has no data"},
		{NormRope(l, x, x, x, x, x, Rotation{1, 1, 24, 0}), "a multiple of 64"},
		{SwiGLU(l, nil, FP8{}, FP8{}, FP8{}, Experts{}), "no kernel for experts"},
		{AllReduce[float32](nil, nil), "0 libraries and 0 vectors"},
		{AllReduce([]*Library{l}, []*runtime.Buffer[int8]{s8}), "elements of this type"},
		{AllReduce([]*Library{l, l}, []*runtime.Buffer[float32]{x, long}), "vector 1 has 131072"},
		{MultiplySparse(l, x, nil, h, 1), "A is nil"},
		{compressed(l, []float32{1, 2}, 2), "row 0 has 2 elements that are not zero"},
		{compressed(l, []int8{0, 1, 2, 3}, 4), "at most 2 of 4"},
		{compressed(l, []int64{1}, 1), "elements of this type"},
		{compressed(l, []int8{1}, 2), "expected 1 rows of 2"},
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
