// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

const epsilon = 1e-5

// check runs the kernel on random rows and on rows that contain edge values, and compares the
// results with those of reference.
func (r RowKernel) check(t *kerneltest.T, rows int, tolerance kerneltest.Tolerance) error {
	switch r.Type {
	case isa.F16:
		return checkRow(t, r, kerneltest.F16, rows, tolerance)
	case isa.Bf16:
		return checkRow(t, r, kerneltest.BF16, rows, tolerance)
	}
	return checkRow(t, r, kerneltest.F32, rows, tolerance)
}

// inputs returns rows of random elements from -4 to 4. Some rows are special: one contains only
// zeros, one contains NaN, one contains an infinity, and one contains very small and very large
// numbers.
func inputs[E runtime.Element](t *kerneltest.T, f kerneltest.Format[E], rows, cols int) []E {
	xs := kerneltest.Random(t, f.Within(-4, 4), rows*cols)
	put := func(row int, values ...float64) {
		for _, v := range values {
			if row < rows {
				xs[row*cols+t.Rand.IntN(cols)] = f.From(v)
			}
		}
	}
	if rows > 1 {
		clear(xs[cols : 2*cols])
	}
	put(2, math.NaN())
	put(3, math.Inf(1))
	put(4, 0x1p-24, 0x1p-14, 30_000, -30_000)
	put(5, math.Inf(-1))
	return xs
}

// reference returns the results for a row, computed on the CPU. With Residual, it overwrites
// residual with the sum of x and residual.
func (r RowKernel) reference(x, w, b, residual []float64) []float64 {
	x = append([]float64(nil), x...)
	if r.Residual {
		for i := range x {
			x[i] += residual[i]
			residual[i] = x[i]
		}
	}
	y := make([]float64, len(x))
	switch r.Kind {
	case Normalize:
		return Reference(x, w, epsilon)
	case LayerNorm:
		var mean, variance float64
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(len(x))
		}
		for i, v := range x {
			y[i] = (v-mean)/math.Sqrt(variance+epsilon)*w[i] + b[i]
		}
	case Softmax:
		log := logSum(x)
		for i, v := range x {
			y[i] = math.Exp(v - log)
		}
	}
	return y
}

// logSum returns log(sum(exp(x))).
func logSum(x []float64) float64 {
	most, sum := math.Inf(-1), 0.0
	for _, v := range x {
		most = math.Max(most, v) // also propagates NaN, unlike a comparison
	}
	for _, v := range x {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum)
}

// launch launches the kernel. known has an argument for each parameter name.
func (r RowKernel) launch(t *kerneltest.T, rows int, known map[string]any) error {
	k, err := t.Kernel(string(r.Kind), func(m *dsl.Module) { BuildRow(m, r) })
	if err != nil {
		return err
	}
	var args []any
	for _, p := range k.Params() {
		args = append(args, known[p.Name])
	}
	_, blocks := r.Threads()
	return t.Launch(k, runtime.Grid(rows*blocks), args...)
}

func checkRow[E runtime.Element](t *kerneltest.T, r RowKernel, f kerneltest.Format[E], rows int,
	tolerance kerneltest.Tolerance) error {
	n := r.Cols
	what := fmt.Sprintf("%s %s, %d rows of %d", r.Kind, f.Name, rows, n)
	x := inputs(t, f, rows, n)
	if r.Kind == CrossEntropy || r.Kind == Gradient {
		return checkLoss(t, r, f, what, x, false, tolerance)
	}
	w, b, residual := kerneltest.Random(t, f, n), kerneltest.Random(t, f, n),
		kerneltest.Random(t, f, rows*n)
	old := f.Decode(residual)
	y := make([]E, rows*n)
	known := map[string]any{"x": kerneltest.In(x), "w": kerneltest.In(w), "b": kerneltest.In(b),
		"eps":      float32(epsilon),
		"residual": kerneltest.InOut(residual), "y": kerneltest.Out(y)}
	codes, singles := make([]uint8, rows*n), make([]float32, rows)
	groups := make([]uint8, (rows*n+15)/16)
	switch r.Output {
	case isa.E4m3:
		known["y"], known["scales"] = kerneltest.Out(codes), kerneltest.Out(singles)
	case isa.E2m1:
		codes = codes[:rows*n/2]
		known["y"], known["scales"] = kerneltest.Out(codes), kerneltest.Out(groups)
	}
	if err := r.launch(t, rows, known); err != nil {
		return err
	}
	var want []float64
	for row := range rows {
		want = append(want,
			r.reference(f.Decode(x[row*n:][:n]), f.Decode(w), f.Decode(b), old[row*n:][:n])...)
	}
	switch r.Output {
	case isa.E4m3, isa.E2m1:
		return r.checkScaled(t, what, codes, singles, groups, want, tolerance)
	}
	if r.Residual {
		// The stored sum is the result of one addition, which is rounded once.
		if err := kerneltest.Compare(t, "sums of "+what, f.Decode(residual), old,
			f.ULPs(0.5)); err != nil {
			return err
		}
	}
	return kerneltest.Compare(t, what, f.Decode(y), want, tolerance)
}

// checkScaled compares a result that is stored with scale factors. The scale factor of a row or
// group is its largest magnitude divided by the largest number of the type. Each element is
// therefore compared after division by the largest magnitude, and the tolerance is half a unit in
// the last place of the largest number.
func (r RowKernel) checkScaled(
	t *kerneltest.T, what string, codes []uint8, singles []float32, groups []uint8, want []float64,
	tolerance kerneltest.Tolerance,
) error {
	got, length := make([]float64, len(want)), r.Cols
	e4m3, e2m1 := kerneltest.Narrow(isa.E4m3), kerneltest.Narrow(isa.E2m1)
	if r.Output == isa.E2m1 {
		length = 16
	}
	relative, most := make([]float64, len(want)), 0.0
	for i := range want {
		if r.Output == isa.E4m3 {
			got[i] = e4m3.Float(codes[i]) * float64(singles[i/length])
		} else {
			got[i] = e2m1.Float(codes[i/2]>>(i%2*4)&15) * e4m3.Float(groups[i/16])
		}
		if i%length == 0 {
			most = 0
			for _, v := range want[i:][:length] {
				if !math.IsNaN(v) {
					most = max(most, math.Abs(v))
				}
			}
			if r.Output == isa.E2m1 {
				// smaller scales of .e4m3 are subnormal numbers with errors of up to 2^-10
				most = max(most, 6*0x1p-6)
			}
		}
		relative[i] = want[i]
		if most > 0 {
			got[i], relative[i] = got[i]/most, want[i]/most
		}
		if r.Output == isa.E2m1 && math.IsNaN(want[i]) {
			got[i] = math.NaN() // .e2m1 has no NaN, so the element is unspecified
		}
	}
	return kerneltest.Compare(t, what, got, relative, tolerance)
}

// checkLoss compares the losses and their sums, or the gradient, whose scale factors may be
// infinite.
func checkLoss[E runtime.Element](t *kerneltest.T, r RowKernel, f kerneltest.Format[E], what string,
	x []E, infinite bool, tolerance kerneltest.Tolerance) error {
	n := r.Cols
	rows := len(x) / n
	targets, scale := make([]uint32, rows), t.Float32s(rows)
	if most := float32(math.Inf(1)); infinite {
		copy(scale, []float32{most, -most, 0, float32(math.NaN())})
	}
	losses, sums, y := make([]float32, rows), make([]float32, rows), make([]E, rows*n)
	var loss, logs, gradient []float64
	for row := range rows {
		xs := f.Decode(x[row*n:][:n])
		target := t.Rand.IntN(n)
		targets[row] = uint32(target)
		log := logSum(xs)
		loss, logs = append(loss, log-xs[target]), append(logs, log)
		if r.Kind == Gradient {
			sums[row] = float32(log)
		}
		for i, v := range xs {
			g := math.Exp(v - float64(sums[row]))
			if i == target {
				g--
			}
			gradient = append(gradient, g*float64(scale[row]))
		}
	}
	known := map[string]any{"x": kerneltest.In(x), "targets": kerneltest.In(targets),
		"scale":  kerneltest.In(scale),
		"losses": kerneltest.Out(losses), "sums": kerneltest.InOut(sums), "y": kerneltest.Out(y)}
	if err := r.launch(t, rows, known); err != nil {
		return err
	}
	if r.Kind == Gradient {
		return kerneltest.Compare(t, what, f.Decode(y), gradient, tolerance)
	}
	if err := kerneltest.Compare(t, "sums of "+what, sums, logs, tolerance); err != nil {
		return err
	}
	return kerneltest.Compare(t, what, losses, loss, tolerance)
}

// checkRope runs the kernel of BuildRope for one type, and compares the results with a reference.
func checkRope[E runtime.Element](t *kerneltest.T, typ isa.Type, f kerneltest.Format[E],
	tokens, heads, dim int, tolerance kerneltest.Tolerance) error {
	k, err := t.Kernel("rope", func(m *dsl.Module) { BuildRope(m, typ, dim) })
	if err != nil {
		return err
	}
	rows, half := tokens*heads, dim/2
	x, w, y := inputs(t, f, rows, dim), kerneltest.Random(t, f, dim), make([]E, rows*dim)
	cosines, sines := make([]float32, tokens*half), make([]float32, tokens*half)
	for i := range cosines {
		angle := float64(i/half) * math.Pow(10_000, -float64(i%half)/float64(half))
		cosines[i], sines[i] = float32(math.Cos(angle)), float32(math.Sin(angle))
	}
	err = t.Launch(k, runtime.Grid((rows+RopeRows-1)/RopeRows), kerneltest.In(x), kerneltest.In(w),
		kerneltest.Out(y),
		kerneltest.In(cosines), kerneltest.In(sines), rows, heads, float32(epsilon))
	if err != nil {
		return err
	}
	var want []float64
	for row := range rows {
		v := Reference(f.Decode(x[row*dim:][:dim]), f.Decode(w), epsilon)
		for i := range dim {
			at := row/heads*half + i%half
			c, s := float64(cosines[at]), float64(sines[at])
			if i < half {
				want = append(want, v[i]*c-v[i+half]*s)
			} else {
				want = append(want, v[i]*c+v[i-half]*s)
			}
		}
	}
	return kerneltest.Compare(t, fmt.Sprintf("rope %s, %d rows of %d", f.Name, rows, dim),
		f.Decode(y), want, tolerance)
}
