// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the library is tested.
var Targets = []string{"sm_80", "sm_90a", "sm_100a", "sm_120a"}

// Check runs the test configurations for the target of the device.
func Check(t *kerneltest.T) error {
	var errs []error
	for _, v := range Variants() {
		for _, target := range v.Targets {
			if target == t.Target() {
				errs = append(errs, v.Check(t))
			}
		}
	}
	return errors.Join(errs...)
}

// Variants returns one test configuration for each kind of call that the library supports.
func Variants() []kerneltest.Variant {
	call := func(option, name string, targets []string, why string,
		check func(*kerneltest.T, *Library) error) kerneltest.Variant {
		return kerneltest.Variant{
			Option: option, Name: name, Targets: targets, Build: Build, Why: why,
			Check: func(t *kerneltest.T) error {
				l := New(t.Device)
				return errors.Join(check(t, l), l.Close())
			},
		}
	}
	const (
		once   = "the result is rounded once; F32 errors are far below its unit"
		weighs = "probabilities of at most 1 and the result are rounded to the type"
		scaled = "the result is rounded to BF16, and sums are truncated to F32"

		truncates = "products are exact, and sums are truncated to F32"
	)
	first, blackwell := Targets[:1], Targets[2:]
	return []kerneltest.Variant{
		call("RMSNorm family call", "RMSNorm, bf16", first, once, checkNorm),
		call("RMSNorm family call", "LayerNorm, f16", first,
			"differences of F32 numbers lose digits, relative to the largest of the row",
			checkLayerNorm),
		call("RMSNorm family call", "softmax, bf16", first, once, checkSoftmax),
		call("RMSNorm family call", "cross-entropy, f32", first,
			"ex2.approx and lg2.approx have errors of some units", checkLoss),
		call("RMSNorm family call", "residual add, bf16", first, once, checkResidual),
		call("RMSNorm family call", "gradient of cross-entropy, bf16", first, once, checkGradient),
		call("top-k call", "f32", first,
			"elements are copied, and the random numbers are not near a limit between two tokens",
			checkTopK),
		call("attention call", "heads one after the other, bf16", Targets[:3], weighs,
			checkAttention),
		call("attention call", "sequences of different lengths, f16", first, weighs, checkBatch),
		call("attention backward call", "bf16", []string{"sm_80", "sm_90a"},
			"probabilities, their changes and the result are rounded to the type",
			checkAttentionGradient),
		call("MLA decode call", "bf16", first, weighs, checkMLA),
		call("RoPE with QK-norm call", "bf16", first, once, checkRope),
		call("grouped FP8 GEMM with SwiGLU call", "e4m3 to bf16", Targets[1:2],
			"the result is rounded to BF16, and sums of 128 products keep 13 fraction bits of the largest",
			checkExperts),
		call("sparse GEMM call", "bf16", first, truncates,
			func(t *kerneltest.T, l *Library) error {
				return checkSparse(t, l, kerneltest.BF16, kerneltest.F32,
					kerneltest.Abs(0x1p-25).TruncatedEvery(16))
			}),
		call("sparse GEMM call", "tf32", first, truncates,
			func(t *kerneltest.T, l *Library) error {
				return checkSparse(t, l, kerneltest.TF32, kerneltest.F32,
					kerneltest.Abs(0x1p-25).TruncatedEvery(8))
			}),
		call("sparse GEMM call", "s8", first, "sums are exact",
			func(t *kerneltest.T, l *Library) error {
				return checkSparse(t, l, kerneltest.S8, kerneltest.S32, kerneltest.Tolerance{})
			}),
		call("all-reduce call", "f32", first, "sums are rounded once",
			func(t *kerneltest.T, l *Library) error { return checkReduce(t, l, kerneltest.F32) }),
		call("all-reduce call", "bf16", first, "sums are exact in F32, and rounded once",
			func(t *kerneltest.T, l *Library) error { return checkReduce(t, l, kerneltest.BF16) }),
		call("block-scaled GEMM call", "nvfp4", blackwell, scaled,
			func(t *kerneltest.T, l *Library) error {
				return checkScaled(t, l, isa.E2m1, isa.E2m1, dsl.NVFP4)
			}),
		call("block-scaled GEMM call", "mxfp8", blackwell[:1], scaled,
			func(t *kerneltest.T, l *Library) error {
				return checkScaled(t, l, isa.E4m3, isa.E4m3, dsl.MXFP8)
			}),
		call("block-scaled GEMM call", "mxfp8 and mxfp4", blackwell[1:], scaled,
			func(t *kerneltest.T, l *Library) error {
				return checkScaled(t, l, isa.E4m3, isa.E2m1, dsl.MXFP8)
			}),
	}
}

// on copies elements to the device. The buffer is freed when the device is closed.
func on[E runtime.Element](t *kerneltest.T, err *error, xs []E) *runtime.Buffer[E] {
	b, e := runtime.Upload(t.Device, xs)
	*err = errors.Join(*err, e)
	return b
}

// compare downloads results and compares them with the reference.
func compare[E runtime.Element](
	t *kerneltest.T, what string, f kerneltest.Format[E], b *runtime.Buffer[E], want []float64,
	tolerance kerneltest.Tolerance,
) error {
	got, err := runtime.Download(b)
	if err != nil {
		return err
	}
	return kerneltest.Compare(t, what, f.Decode(got), want, tolerance)
}

const eps = 1e-5

// lines returns rows of random elements. Some rows are special: one has only zeros, one contains
// NaN, two contain an infinity, and one contains very small and very large numbers.
func lines[E runtime.Element](t *kerneltest.T, f kerneltest.Format[E], rows, cols int) []E {
	xs := kerneltest.Random(t, f.Within(-4, 4), rows*cols)
	clear(xs[cols : 2*cols])
	for row, values := range [][]float64{2: {math.NaN()}, 3: {math.Inf(1)},
		4: {0x1p-24, 0x1p-14, 30_000, -30_000}, 5: {math.Inf(-1)}} {
		for _, v := range values {
			xs[row*cols+t.Rand.IntN(cols)] = f.From(v)
		}
	}
	return xs
}

func checkNorm(t *kerneltest.T, l *Library) error {
	f := kerneltest.BF16
	for _, cols := range []int{37, 1024, 1001} {
		const rows = 7
		xs, ws := lines(t, f, rows, cols), kerneltest.Random(t, f, cols)
		var err error
		x, w, y := on(t, &err, xs), on(t, &err, ws), on(t, &err, xs)
		if err = errors.Join(err, RMSNorm(l, y, x, w, rows, cols, eps)); err != nil {
			return err
		}
		var want []float64
		for row := range rows {
			var squares float64
			line := f.Decode(xs[row*cols:][:cols])
			for _, v := range line {
				squares += v * v / float64(cols)
			}
			for i, v := range line {
				want = append(want, v/math.Sqrt(squares+eps)*f.Float(ws[i]))
			}
		}
		if err := compare(t, fmt.Sprintf("RMSNorm, %d rows of %d", rows, cols), f, y, want,
			f.ULPs(0.52)); err != nil {
			return err
		}
	}
	return nil
}

func checkLayerNorm(t *kerneltest.T, l *Library) error {
	const rows, cols = 7, 1001
	f := kerneltest.F16
	xs, ws, bs := lines(t, f, rows, cols), kerneltest.Random(t, f, cols),
		kerneltest.Random(t, f, cols)
	var err error
	x, w, b, y := on(t, &err, xs), on(t, &err, ws), on(t, &err, bs), on(t, &err, xs)
	if err = errors.Join(err, LayerNorm(l, y, x, w, b, rows, cols, eps)); err != nil {
		return err
	}
	var want []float64
	for row := range rows {
		var mean, variance float64
		line := f.Decode(xs[row*cols:][:cols])
		for _, v := range line {
			mean += v / cols
		}
		for _, v := range line {
			variance += (v - mean) * (v - mean) / cols
		}
		for i, v := range line {
			want = append(want, (v-mean)/math.Sqrt(variance+eps)*f.Float(ws[i])+f.Float(bs[i]))
		}
	}
	return compare(t, fmt.Sprintf("LayerNorm, %d rows of %d", rows, cols), f, y, want,
		f.ULPs(0.5).Plus(kerneltest.Abs(1e-6)))
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

func checkSoftmax(t *kerneltest.T, l *Library) error {
	const rows, cols = 7, 777
	f := kerneltest.BF16
	xs := lines(t, f, rows, cols)
	var err error
	x, y := on(t, &err, xs), on(t, &err, xs)
	if err = errors.Join(err, Softmax(l, y, x, rows, cols)); err != nil {
		return err
	}
	var want []float64
	for row := range rows {
		line := f.Decode(xs[row*cols:][:cols])
		log := logSum(line)
		for _, v := range line {
			want = append(want, math.Exp(v-log))
		}
	}
	return compare(t, fmt.Sprintf("softmax, %d rows of %d", rows, cols), f, y, want, f.ULPs(0.52))
}

func checkLoss(t *kerneltest.T, l *Library) error {
	const rows, cols = 6, 1001
	xs := lines(t, kerneltest.F32, rows, cols)
	targets, want := make([]uint32, rows), make([]float64, rows)
	for row := range rows {
		targets[row] = uint32(t.Rand.IntN(cols))
		line := kerneltest.F32.Decode(xs[row*cols:][:cols])
		want[row] = logSum(line) - line[targets[row]]
	}
	var err error
	losses, sums := on(t, &err, make([]float32, rows)), on(t, &err, make([]float32, rows))
	err = errors.Join(err,
		CrossEntropy(l, losses, sums, on(t, &err, xs), on(t, &err, targets), rows, cols))
	if err != nil {
		return err
	}
	return compare(t, fmt.Sprintf("losses, %d rows of %d", rows, cols), kerneltest.F32, losses,
		want, kerneltest.F32.ULPs(1.5))
}

// reference returns the attention of one query, computed on the CPU. key returns the key and the
// value with an index.
func reference(q []float64, keys int, key func(int) (k, v []float64)) []float64 {
	weights, sum, out := make([]float64, max(0, keys)), 0.0, make([]float64, len(q))
	for j := range weights {
		k, _ := key(j)
		var score float64
		for c, x := range q {
			score += x * k[c] / math.Sqrt(float64(len(q)))
		}
		weights[j] = math.Exp(score)
		sum += weights[j]
	}
	for j, w := range weights {
		_, v := key(j)
		for c := range out {
			out[c] += w / sum * v[c]
		}
	}
	return out
}

// unusual sets the last element of the queries to NaN, and some elements of the value of the
// first key, which all queries of its head see, to NaN, the infinities and the smallest number.
func unusual[E runtime.Element](f kerneltest.Format[E], qs, vs []E) {
	qs[len(qs)-1] = f.From(math.NaN())
	vs[0], vs[3], vs[6], vs[9] = f.From(math.NaN()), f.From(math.Inf(1)), f.From(math.Inf(-1)),
		f.Edges()[4]
}

func checkAttention(t *kerneltest.T, l *Library) error {
	f := kerneltest.BF16
	for _, h := range []Heads{{2, 70, 133, 64, false}, {1, 33, 65, 128, true},
		{2, 9, 5, 64, true}} {
		n, m := h.Heads*h.Queries*h.Width, h.Heads*h.Keys*h.Width
		qs, ks, vs := kerneltest.Random(t, f, n), kerneltest.Random(t, f, m),
			kerneltest.Random(t, f, m)
		if h.Keys > h.Queries { // otherwise some queries do not see the first key
			unusual(f, qs, vs)
		}
		var err error
		o := on(t, &err, make([]runtime.BF16, n))
		err = errors.Join(err,
			Attention(l, o, on(t, &err, qs), on(t, &err, ks), on(t, &err, vs), h))
		if err != nil {
			return err
		}
		var want []float64
		for i := range h.Heads * h.Queries {
			keys := h.Keys
			if h.Causal {
				keys = h.Keys - h.Queries + i%h.Queries + 1
			}
			want = append(want,
				reference(f.Decode(qs[i*h.Width:][:h.Width]), keys, func(j int) (k, v []float64) {
					at := (i/h.Queries*h.Keys + j) * h.Width
					return f.Decode(ks[at:][:h.Width]), f.Decode(vs[at:][:h.Width])
				})...)
		}
		what := fmt.Sprintf("attention, %d heads of %d and %d", h.Heads, h.Queries, h.Keys)
		if err := compare(t, what, f, o, want,
			f.ULPs(0.5).Plus(kerneltest.Abs(0x1p-9))); err != nil {
			return err
		}
	}
	return nil
}

// checkBatch has heads for the kernel with mma.sync, and heads for that with wgmma.
func checkBatch(t *kerneltest.T, l *Library) error {
	return errors.Join(checkBatchOf(t, l, 96), checkBatchOf(t, l, 64))
}

func checkBatchOf(t *kerneltest.T, l *Library, width int) error {
	f, b := kerneltest.F16,
		Batch{Heads: 4, KV: 2, Width: width, Queries: []int{1, 70, 5, 0, 3},
			Keys:   []int{66, 70, 77, 2, 1},
			Causal: true}
	startsQ, startsK := starts(b.Queries), starts(b.Keys)
	wideQ, wideK := b.Heads*b.Width, b.KV*b.Width
	n, m := int(startsQ[5])*wideQ, int(startsK[5])*wideK
	qs, ks, vs := kerneltest.Random(t, f, n), kerneltest.Random(t, f, m), kerneltest.Random(t, f, m)
	unusual(f, qs, vs)
	var err error
	o := on(t, &err, make([]runtime.F16, n))
	err = errors.Join(err,
		AttentionBatch(l, o, on(t, &err, qs), on(t, &err, ks), on(t, &err, vs), b))
	if err != nil {
		return err
	}
	var want []float64
	for s := range b.Queries {
		for i := range b.Queries[s] {
			for head := range b.Heads {
				row := (int(startsQ[s])+i)*wideQ + head*b.Width
				want = append(want,
					reference(f.Decode(qs[row:][:b.Width]), b.Keys[s]-b.Queries[s]+i+1,
						func(j int) (k, v []float64) {
							at := (int(startsK[s])+j)*wideK + head/(b.Heads/b.KV)*b.Width
							return f.Decode(ks[at:][:b.Width]), f.Decode(vs[at:][:b.Width])
						})...)
			}
		}
	}
	return compare(t, "batch, 5 sequences", f, o, want, f.ULPs(0.5).Plus(kerneltest.Abs(0x1p-12)))
}

func checkScaled(t *kerneltest.T, l *Library, typA, typB isa.Type, scale dsl.BlockScale) error {
	for _, g := range []kerneltest.GEMM{{M: 37, N: 53, K: 100}, {M: 133, N: 144, K: 272}} {
		as, bs := random(t, typA, g.M, g.K), random(t, typB, g.N, g.K)
		clear(as[g.K : 2*g.K]) // their scale factors are zero or the smallest ones
		clear(bs[:16])
		clear(bs[3*g.K : 4*g.K])
		a, e1 := Quantize(l, as, g.M, g.K, typA, scale)
		b, e2 := Quantize(l, bs, g.N, g.K, typB, scale)
		if err := errors.Join(e1, e2); err != nil {
			return err
		}
		var err error
		d := on(t, &err, make([]runtime.BF16, g.M*g.N))
		if err := errors.Join(err, MultiplyScaled(l, d, a, b)); err != nil {
			return err
		}
		got, err := runtime.Download(d)
		if err != nil {
			return err
		}
		err = t.CompareGEMM(g, func(row, col int) float64 {
			return kerneltest.BF16.Float(got[row*g.N+col])
		},
			func(row, k int) float64 { return float64(as[row*g.K+k]) }, func(col, k int) float64 {
				return float64(bs[col*g.K+k])
			},
			kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-20)))
		if err := errors.Join(err, a.Close(), b.Close(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}

// random returns a matrix of random elements of a type, which a block-scaled format represents
// exactly: every 16 elements include the largest number of the type, so their scale factor is 1.
func random(t *kerneltest.T, typ isa.Type, rows, cols int) []float32 {
	f := kerneltest.Narrow(typ)
	most := float32(0)
	for _, code := range f.Edges() {
		if x := float32(f.Float(code)); x > most { // false for NaN
			most = x
		}
	}
	xs := make([]float32, rows*cols)
	for i := range xs {
		xs[i] = float32(f.Float(f.From((2*t.Rand.Float64() - 1) * float64(most))))
		if i%cols%16 == 0 {
			xs[i] = most
		}
	}
	return xs
}
