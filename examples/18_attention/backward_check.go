// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"errors"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Backward returns the gradients of the queries, keys and values of one head, given the gradient
// of its output. It is the reference, computed on the CPU.
func Backward(q, k, v, gradient []float64, width int, causal bool) (dq, dk, dv []float64) {
	n, m := len(q)/width, len(k)/width
	dq, dk, dv = make([]float64, len(q)), make([]float64, len(k)), make([]float64, len(v))
	scale := 1 / math.Sqrt(float64(width))
	for i := range n {
		visible := m
		if causal {
			visible = max(0, m-n+i+1)
		}
		weights, changes := make([]float64, visible), make([]float64, visible)
		largest, sum, mean := math.Inf(-1), 0.0, 0.0
		for j := range weights {
			for c := range width {
				weights[j] += q[i*width+c] * k[j*width+c] * scale
				changes[j] += gradient[i*width+c] * v[j*width+c]
			}
			largest = max(largest, weights[j])
		}
		for j := range weights {
			weights[j] = math.Exp(weights[j] - largest)
			sum += weights[j]
		}
		for j := range weights {
			weights[j] /= sum
			mean += weights[j] * changes[j]
		}
		for j, w := range weights {
			change := w * (changes[j] - mean) * scale
			for c := range width {
				dq[i*width+c] += change * k[j*width+c]
				dk[j*width+c] += change * q[i*width+c]
				dv[j*width+c] += w * gradient[i*width+c]
			}
		}
	}
	return dq, dk, dv
}

// backwardVariants returns the test configurations of the backward pass.
func backwardVariants() (list []kerneltest.Variant) {
	for _, s := range []Shape{{isa.Bf16, 64, false}, {isa.Bf16, 64, true}, {isa.F16, 64, true},
		{isa.F16, 128, false}, {isa.Bf16, 128, true}} {
		name := fmt.Sprintf("%s, %d, all keys", s.Type.String()[1:], s.Width)
		if s.Causal {
			name = fmt.Sprintf("%s, %d, causal", s.Type.String()[1:], s.Width)
		}
		list = append(list, kerneltest.Variant{
			Option: "attention backward", Name: name, Targets: BatchTargets[:1],
			Build: func(m *dsl.Module) {
				BuildRows(m, s)
				BuildBackwardKV(m, s)
				BuildBackwardQ(m, s)
			},
			Check: func(t *kerneltest.T) error { return CheckBackward(t, s) },
			Why:   "probabilities, their changes and the result are rounded to the type, and the deltas depend on the rounded result",
		})
	}
	return list
}

// CheckBackward runs the three kernels, and compares the gradients with those of Backward. The
// sizes are not multiples of the tiles, and some elements are edge values.
func CheckBackward(t *kerneltest.T, s Shape) error {
	sizes := []size{{2, 70, 133}, {1, 64, 64}, {1, 5, 130}, {1, 1, 1}, {2, 7, 9}}
	var errs []error
	for _, z := range sizes {
		if s.Type == isa.F16 {
			errs = append(errs, checkBackward(t, s, z, kerneltest.F16, 0x1p-11))
		} else {
			errs = append(errs, checkBackward(t, s, z, kerneltest.BF16, 0x1p-8))
		}
	}
	return errors.Join(errs...)
}

func checkBackward[E runtime.Element](t *kerneltest.T, s Shape, z size, f kerneltest.Format[E],
	unit float64) error {
	x := newGradients(t, f, z, s)
	logs, deltas := make([]float32, z.heads*z.queries), make([]float32, z.heads*z.queries)
	dq, dk, dv := make([]E, len(x.q)), make([]E, len(x.k)), make([]E, len(x.v))
	loaded, err := t.Module("backward", func(m *dsl.Module) {
		BuildRows(m, s)
		BuildBackwardKV(m, s)
		BuildBackwardQ(m, s)
	})
	if err != nil {
		return err
	}
	known := map[string]any{
		"q": kerneltest.In(x.q), "k": kerneltest.In(x.k), "v": kerneltest.In(x.v),
		"o": kerneltest.In(f.Encode(x.o)), "do": kerneltest.In(x.gradient),
		"dq": kerneltest.Out(dq), "dk": kerneltest.Out(dk), "dv": kerneltest.Out(dv),
		"n": z.queries, "m": z.keys,
	}
	for _, l := range []struct {
		name string
		rows int
	}{{s.rowsName(), z.queries}, {s.kvName(), z.keys}, {s.qName(), z.queries}} {
		known["logs"], known["deltas"] = kerneltest.In(logs), kerneltest.In(deltas)
		if l.name == s.rowsName() {
			known["logs"], known["deltas"] = kerneltest.Out(logs), kerneltest.Out(deltas)
		}
		kernel, err := loaded.Kernel(l.name)
		if err != nil {
			return err
		}
		var args []any
		for _, p := range kernel.Params() {
			args = append(args, known[p.Name])
		}
		if err := t.Launch(kernel, runtime.Grid((l.rows+Queries-1)/Queries, z.heads),
			args...); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return x.compare(t, f, z, unit, dq, dk, dv)
}

// gradients are the operands of a backward pass, and the results of the reference.
type gradients[E runtime.Element] struct {
	q, k, v, gradient      []E
	o, wantQ, wantK, wantV []float64
	causal                 bool
}

// newGradients returns random heads of a size, with edge values.
func newGradients[E runtime.Element](t *kerneltest.T, f kerneltest.Format[E], z size,
	s Shape) (x gradients[E]) {
	n, m := z.queries*s.Width, z.keys*s.Width
	x.causal = s.Causal
	random := func(n int) []E { return kerneltest.Random(t, f, z.heads*n) }
	x.q, x.k, x.v, x.gradient = random(n), random(m), random(m), random(n)
	edges(f, z, x.q, x.v, x.gradient)
	switch z.heads {
	case withInfinities:
		infinities(f, z, s.Causal, x.q, x.k, x.v)
	case withNeighbors:
		for _, xs := range [][]E{x.q, x.k, x.v, x.gradient} {
			for i := len(xs) / withNeighbors; i < 2*len(xs)/withNeighbors; i++ {
				xs[i] = f.From(math.NaN())
			}
		}
	}
	for i := range z.heads {
		of := func(xs []E, n int) []float64 { return f.Decode(xs[i*n:][:n]) }
		q, k, v := of(x.q, n), of(x.k, m), of(x.v, m)
		x.o = append(x.o, Reference(q, k, v, s.Width, s.Causal)...)
		dq, dk, dv := Backward(q, k, v, of(x.gradient, n), s.Width, s.Causal)
		x.wantQ, x.wantK, x.wantV = append(x.wantQ, dq...), append(x.wantK, dk...),
			append(x.wantV, dv...)
	}
	return x
}

// compare compares gradients with those of the reference.
func (x gradients[E]) compare(t *kerneltest.T, f kerneltest.Format[E], z size, unit float64,
	dq, dk, dv []E) error {
	what := fmt.Sprintf("%d heads of %d queries and %d keys", z.heads, z.queries, z.keys)
	// A rounded probability or score gradient has an error of up to half a unit. The sum of many
	// products of such numbers and elements of at most 1 has an error of about one unit.
	tolerance := f.ULPs(0.5).Plus(kerneltest.Abs(unit))
	var errs []error
	for _, r := range []struct {
		name      string
		got, want []float64
	}{{"dv, ", f.Decode(dv), x.wantV}, {"dk, ", f.Decode(dk), x.wantK},
		{"dq, ", f.Decode(dq), x.wantQ}} {
		if z.heads == withInfinities && x.causal {
			withoutSigns(r.got)
			withoutSigns(r.want)
		}
		errs = append(errs, kerneltest.Compare(t, r.name+what, r.got, r.want, tolerance))
	}
	return errors.Join(errs...)
}

// edges sets edge values in the heads of some sizes. With one key, whose weight is one and whose
// value is zero here, the gradient of the value is that of the result. Of two heads, the last
// query of the second has a gradient with NaN, which reaches all keys and one column of the
// values, and subnormal numbers. Of two small heads, the last query of the first is NaN.
func edges[E runtime.Element](f kerneltest.Format[E], z size, q, v, gradient []E) {
	switch width := len(q) / (z.heads * z.queries); {
	case z.keys == 1:
		clear(v)
		for i, x := range f.Edges() {
			if finite := f.Float(x); !math.IsNaN(finite) && !math.IsInf(finite, 0) {
				gradient[i] = x
			}
		}
	case z.heads == 2:
		last := gradient[len(gradient)-width:]
		last[3], last[4], last[5] = f.From(math.NaN()), f.Edges()[4], f.From(math.Copysign(0, -1))
		if z.queries < 10 {
			q[len(q)/2-1] = f.From(math.NaN())
		}
	}
}

// Numbers of heads of the sizes with other edge values: those of infinities, and a second head in
// which all operands are NaN.
const (
	withInfinities = 3
	withNeighbors  = 5
)

// infinities sets one element of each of three heads: in the last query of the first, in the first
// key of the second, and in the first value of the third. All queries see the first key, and the
// last query sees all keys, also in a causal shape. In such a shape the infinite scores of the key
// are negative, and so its weights are zero. What is infinite or NaN in a row of the operands may
// otherwise reach keys in the same tile that the query does not see: tensor cores multiply it by
// their weights of zero, and zero times infinity is NaN.
func infinities[E runtime.Element](f kerneltest.Format[E], z size, causal bool, q, k, v []E) {
	width := len(q) / z.heads / z.queries
	q[len(q)/z.heads-width+7] = f.From(math.Inf(1))
	k[len(k)/z.heads+7] = f.From(math.Inf(-1))
	v[len(v)/z.heads*2+7] = f.From(math.Inf(1))
	for i := z.queries; causal && i < 2*z.queries; i++ {
		q[i*width+7] = f.From(math.Abs(f.Float(q[i*width+7])) + 0.25)
	}
}

// withoutSigns replaces infinities by NaN. Sums of infinities may be NaN in a causal kernel, which
// multiplies the infinite change of a hidden weight by zero.
func withoutSigns(xs []float64) {
	for i, x := range xs {
		if math.IsInf(x, 0) {
			xs[i] = math.NaN()
		}
	}
}
