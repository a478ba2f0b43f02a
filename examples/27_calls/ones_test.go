// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestOnes calls each function with sizes of one, whose results are known without a reference: the
// softmax of one element is 1, and attention to one key returns its value.
func TestOnes(t *testing.T) {
	for target, calls := range map[string]func(*kerneltest.T, *Library) error{
		"sm_80": func(x *kerneltest.T, l *Library) error {
			return errors.Join(ones(x, l, kerneltest.F32), ones(x, l, kerneltest.F16),
				ones(x, l, kerneltest.BF16), oneToken(x, l, kerneltest.F16))
		},
		"sm_90a": func(x *kerneltest.T, l *Library) error {
			return oneToken(x, l, kerneltest.BF16)
		},
		"sm_100a": oneScaled,
	} {
		x := kerneltest.Open(t, "emu:"+target)
		l := New(x.Device)
		if err := errors.Join(calls(x, l), l.Close()); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// ones calls the functions of rows for one row of one element.
func ones[E runtime.Element](t *kerneltest.T, l *Library, f kerneltest.Format[E]) error {
	var err error
	of := func(v float64) *runtime.Buffer[E] { return on(t, &err, []E{f.From(v)}) }
	float := func(v float32) *runtime.Buffer[float32] { return on(t, &err, []float32{v}) }
	same := func(what string, got *runtime.Buffer[E], want float64) {
		err = errors.Join(err, compare(t, what, f, got, []float64{want}, f.ULPs(1)))
	}
	number := func(what string, got *runtime.Buffer[float32], want float64) {
		err = errors.Join(err, compare(t, what, kerneltest.F32, got, []float64{want},
			kerneltest.Abs(1e-6)))
	}
	target := on(t, &err, []uint32{0})
	y, residual := of(9), of(0.5)
	call := func(e error) { err = errors.Join(err, e) }

	call(RMSNorm(l, y, of(-3), of(2), 1, 1, 0))
	same("RMSNorm", y, -2)
	call(AddRMSNorm(l, y, residual, of(1.5), of(2), 1, 1, 0))
	same("AddRMSNorm", y, 2)
	same("sum of AddRMSNorm", residual, 2)
	call(LayerNorm(l, y, of(-3), of(2), of(0.25), 1, 1, 1))
	same("LayerNorm", y, 0.25)
	call(Softmax(l, y, of(-3), 1, 1))
	same("Softmax", y, 1)
	losses, sums := float(9), float(9)
	call(CrossEntropy(l, losses, sums, of(-3), target, 1, 1))
	number("CrossEntropy", losses, 0)
	number("sum of CrossEntropy", sums, -3)
	call(CrossEntropyGradient(l, y, of(-3), sums, float(4), target, 1, 1))
	err = errors.Join(err, compare(t, "CrossEntropyGradient", f, y, []float64{0},
		kerneltest.Abs(1e-6)))
	values, columns, tokens := float(9), on(t, &err, []uint32{9}), on(t, &err, []uint32{9})
	call(TopK(l, values, columns, tokens, of(-3), float(0.5), 1, 1, Sampling{1, 1, 1}))
	number("TopK", values, -3)
	for _, b := range []*runtime.Buffer[uint32]{columns, tokens} {
		err = errors.Join(err, compare(t, "column of TopK", kerneltest.U32, b, []float64{0},
			kerneltest.Tolerance{}))
	}
	call(AllReduce([]*Library{l}, []*runtime.Buffer[E]{y}))
	return err
}

// oneToken calls the functions of heads for one head of one token.
func oneToken[E runtime.Element](t *kerneltest.T, l *Library, f kerneltest.Format[E]) error {
	var err error
	random := func(n int) ([]E, *runtime.Buffer[E]) {
		xs := kerneltest.Random(t, f, n)
		return xs, on(t, &err, xs)
	}
	same := func(what string, got *runtime.Buffer[E], want []E, tolerance kerneltest.Tolerance) {
		err = errors.Join(err, compare(t, what, f, got, f.Decode(want), tolerance))
	}
	call := func(e error) { err = errors.Join(err, e) }
	const width = 64
	_, o := random(width)
	_, q := random(width)
	_, k := random(width)
	values, v := random(width)
	for _, causal := range []bool{false, true} {
		call(Attention(l, o, q, k, v, Heads{1, 1, 1, width, causal}))
		same("Attention", o, values, kerneltest.Tolerance{})
		call(AttentionBatch(l, o, q, k, v, Batch{Heads: 1, KV: 1, Width: width, Queries: []int{1},
			Keys: []int{1}, Causal: causal}))
		same("AttentionBatch", o, values, kerneltest.Tolerance{})
	}
	// The weight is 1 whatever the score is: queries and keys have no gradient.
	gradient, d := random(width)
	_, dq := random(width)
	_, dk := random(width)
	_, dv := random(width)
	call(AttentionGradient(l, Gradients[E]{Q: dq, K: dk, V: dv, O: d}, o, q, k, v,
		Heads{1, 1, 1, width, false}))
	same("gradient of V", dv, gradient, kerneltest.Tolerance{})
	same("gradient of Q", dq, make([]E, width), kerneltest.Abs(1e-5))
	same("gradient of K", dk, make([]E, width), kerneltest.Abs(1e-5))

	tokens, cache := random(32 * 576)
	_, latent := random(576)
	_, decoded := random(512)
	call(MLADecode(l, decoded, latent, cache, Latent{Heads: 1, Lengths: []int{1}, PageTokens: 32,
		Pages: [][]int{{0}}, Scale: 1}))
	same("MLADecode", decoded, tokens[:512], kerneltest.Tolerance{})

	// One token at angle zero: NormRope is RMSNorm.
	constant := func(x float64) []E { return slices.Repeat([]E{f.From(x)}, width) }
	x, w := on(t, &err, constant(-3)), on(t, &err, constant(0.5))
	cosines := on(t, &err, slices.Repeat([]float32{1}, width/2))
	sines := on(t, &err, make([]float32, width/2))
	call(NormRope(l, o, x, w, cosines, sines, Rotation{1, 1, width, 0}))
	same("NormRope", o, constant(-0.5), f.ULPs(1))
	return err
}

// oneScaled multiplies block-scaled matrices of one element.
func oneScaled(t *kerneltest.T, l *Library) error {
	a, e1 := Quantize(l, []float32{-1.5}, 1, 1, isa.E4m3, dsl.MXFP8)
	b, e2 := Quantize(l, []float32{4}, 1, 1, isa.E4m3, dsl.MXFP8)
	var err error
	d := on(t, &err, []runtime.BF16{kerneltest.BF16.From(math.NaN())})
	if err := errors.Join(e1, e2, err); err != nil {
		return err
	}
	return errors.Join(MultiplyScaled(l, d, a, b),
		compare(t, "MultiplyScaled", kerneltest.BF16, d, []float64{-6}, kerneltest.Tolerance{}))
}
