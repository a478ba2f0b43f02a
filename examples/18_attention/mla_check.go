// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// mlaScale is the factor of the scores, 1/sqrt(192): before the weights of the keys are
// multiplied into the queries, a head has 128 elements, and 64 more elements with rotary
// embedding.
var mlaScale = 1 / math.Sqrt(192)

// mlaVariants returns the test configurations of the kernel for MLA.
func mlaVariants() (list []kerneltest.Variant) {
	for _, a := range []MLA{{isa.Bf16, 64}, {isa.F16, 32}} {
		list = append(list, kerneltest.Variant{
			Option: "MLA decode", Name: a.String(), Targets: BatchTargets[:1],
			Build: func(m *dsl.Module) { BuildMLA(m, a) },
			Check: func(t *kerneltest.T) error { return CheckMLA(t, a) },
			Why:   "probabilities of at most 1 and the result are rounded to the type",
		})
	}
	return list
}

// CheckMLA runs the kernel on sequences of different lengths, and compares the results with those
// of mlaReference. The number of heads is not a multiple of MLAHeads, and some elements are edge
// values.
func CheckMLA(t *kerneltest.T, a MLA) error {
	if a.Type == isa.F16 {
		return checkMLA(t, a, kerneltest.F16,
			kerneltest.F16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-12)))
	}
	return checkMLA(t, a, kerneltest.BF16, kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-9)))
}

func checkMLA[E runtime.Element](t *kerneltest.T, a MLA, f kerneltest.Format[E],
	tolerance kerneltest.Tolerance) error {
	const heads = 20
	lengths := []int{1, 70, 130}
	most := (slices.Max(lengths) + a.PageTokens - 1) / a.PageTokens
	table := pageTable(t, lengths, most, a.PageTokens)
	q := kerneltest.Random(t, f, len(lengths)*heads*LatentRow)
	cache := kerneltest.Random(t, f, len(table)*a.PageTokens*LatentRow)
	q[3*LatentRow+5] = f.From(math.NaN()) // affects all results of a head
	// The only token of the first sequence has the weight one, so the results are the elements of
	// the token.
	first := int(table[0]) * a.PageTokens * LatentRow
	for i, x := range f.Edges() {
		if v := f.Float(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
			cache[first+2*i] = x
			for h := range heads {
				q[h*LatentRow+2*i] = f.From(0)
			}
		}
	}
	var want []float64
	counts := make([]uint32, len(lengths))
	for s, n := range lengths {
		counts[s] = uint32(n)
		for h := range heads {
			row := f.Decode(q[(s*heads+h)*LatentRow:][:LatentRow])
			want = append(want, mlaReference(row, func(key int) []float64 {
				at := int(table[s*most+key/a.PageTokens])*a.PageTokens + key%a.PageTokens
				return f.Decode(cache[at*LatentRow:][:LatentRow])
			}, n)...)
		}
	}
	kernel, err := t.Kernel(a.Name(), func(m *dsl.Module) { BuildMLA(m, a) })
	if err != nil {
		return err
	}
	out := make([]E, len(lengths)*heads*Latent)
	grid := runtime.Grid((heads+MLAHeads-1)/MLAHeads, len(lengths))
	err = t.Launch(kernel, grid, kerneltest.In(q), kerneltest.In(cache), kerneltest.Out(out),
		kerneltest.In(counts),
		kerneltest.In(table), most, heads, float32(mlaScale))
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s, %d heads of %d sequences", a.Type.String()[1:], heads, len(lengths))
	return kerneltest.Compare(t, what, f.Decode(out), want, tolerance)
}

// mlaReference returns the result of one head, computed on the CPU: the mean of the latent
// vectors of the keys, weighted by the softmax of the scaled products of keys and query.
func mlaReference(q []float64, key func(int) []float64, keys int) []float64 {
	weights, rows := make([]float64, keys), make([][]float64, keys)
	largest, sum := math.Inf(-1), 0.0
	for j := range weights {
		rows[j] = key(j)
		for c, x := range q {
			weights[j] += x * rows[j][c] * mlaScale
		}
		largest = max(largest, weights[j])
	}
	for j, w := range weights {
		weights[j] = math.Exp(w - largest)
		sum += weights[j]
	}
	out := make([]float64, Latent)
	for j, w := range weights {
		for c := range out {
			out[c] += w / sum * rows[j][c]
		}
	}
	return out
}
