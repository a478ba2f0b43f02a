// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"
	"math"

	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	moe "github.com/ptxdsl/ptxdsl/examples/26_moe"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// checkAttentionGradient compares gradients with those of attention.Backward. With one key, the
// gradient of the value is that of the result. If there are fewer keys than queries, some queries
// see no key.
func checkAttentionGradient(t *kerneltest.T, l *Library) error {
	f := kerneltest.BF16
	for _, h := range []Heads{{1, 1, 1, 128, false}, {2, 9, 70, 64, true}, {1, 65, 67, 64, false},
		{2, 9, 5, 64, true}} {
		n, m := h.Queries*h.Width, h.Keys*h.Width
		random := func(n int) []runtime.BF16 { return kerneltest.Random(t, f, h.Heads*n) }
		qs, ks, vs, gs := random(n), random(m), random(m), random(n)
		if h.Keys == 1 {
			clear(vs)
			gs[0], gs[3], gs[5] = f.Edges()[4], f.From(math.NaN()), f.From(math.Inf(-1))
		}
		var os, wantQ, wantK, wantV []float64
		for i := range h.Heads {
			of := func(xs []runtime.BF16, n int) []float64 { return f.Decode(xs[i*n:][:n]) }
			q, k, v := of(qs, n), of(ks, m), of(vs, m)
			os = append(os, attention.Reference(q, k, v, h.Width, h.Causal)...)
			dq, dk, dv := attention.Backward(q, k, v, of(gs, n), h.Width, h.Causal)
			wantQ, wantK, wantV = append(wantQ, dq...), append(wantK, dk...), append(wantV, dv...)
		}
		var err error
		d := Gradients[runtime.BF16]{
			Q: on(t, &err, make([]runtime.BF16, len(qs))),
			K: on(t, &err, make([]runtime.BF16, len(ks))),
			V: on(t, &err, make([]runtime.BF16, len(vs))), O: on(t, &err, gs),
		}
		err = errors.Join(err, AttentionGradient(l, d, on(t, &err, f.Encode(os)), on(t, &err, qs),
			on(t, &err, ks), on(t, &err, vs), h))
		if err != nil {
			return err
		}
		what := fmt.Sprintf(", %d heads of %d queries and %d keys", h.Heads, h.Queries, h.Keys)
		tolerance := f.ULPs(0.5).Plus(kerneltest.Abs(0x1p-9))
		if err := errors.Join(compare(t, "dq"+what, f, d.Q, wantQ, tolerance),
			compare(t, "dk"+what, f, d.K, wantK, tolerance),
			compare(t, "dv"+what, f, d.V, wantV, tolerance)); err != nil {
			return err
		}
	}
	return nil
}

// checkMLA decodes sequences of one token and of more than a page. The pages are not in order.
func checkMLA(t *kerneltest.T, l *Library) error {
	f := kerneltest.BF16
	x := Latent{Heads: 3, Lengths: []int{1, 70}, PageTokens: 32, Pages: [][]int{{3}, {4, 0, 2}},
		Scale: 0.0625}
	const row = attention.LatentRow
	qs := kerneltest.Random(t, f, len(x.Lengths)*x.Heads*row)
	cs := kerneltest.Random(t, f, 5*x.PageTokens*row)
	qs[3*row] = f.From(math.NaN()) // affects the first head of the second sequence
	cs[3*32*row+1] = f.Edges()[4]
	var want []float64
	for s, n := range x.Lengths {
		for h := range x.Heads {
			q := f.Decode(qs[(s*x.Heads+h)*row:][:row])
			weights, sum := make([]float64, n), 0.0
			sums := make([]float64, attention.Latent)
			for i := range weights {
				key := f.Decode(cs[(x.Pages[s][i/32]*32+i%32)*row:][:row])
				for c, v := range q {
					weights[i] += v * key[c] * float64(x.Scale)
				}
				weights[i] = math.Exp(weights[i])
				sum += weights[i]
				for c := range sums {
					sums[c] += weights[i] * key[c]
				}
			}
			for _, v := range sums {
				want = append(want, v/sum)
			}
		}
	}
	var err error
	o := on(t, &err, make([]runtime.BF16, len(want)))
	err = errors.Join(err, MLADecode(l, o, on(t, &err, qs), on(t, &err, cs), x))
	if err != nil {
		return err
	}
	return compare(t, "MLA, 2 sequences", f, o, want, f.ULPs(0.5).Plus(kerneltest.Abs(0x1p-9)))
}

// checkRope rotates heads of one token and of several tokens.
func checkRope(t *kerneltest.T, l *Library) error {
	f := kerneltest.BF16
	for _, r := range []Rotation{{1, 1, 64, eps}, {5, 3, 128, eps}} {
		rows, half := r.Tokens*r.Heads, r.Width/2
		xs, ws := kerneltest.Random(t, f, rows*r.Width), kerneltest.Random(t, f, r.Width)
		if rows > 5 {
			xs = lines(t, f, rows, r.Width)
		}
		cosines, sines := make([]float32, r.Tokens*half), make([]float32, r.Tokens*half)
		for i := range cosines {
			angle := 7 * t.Rand.Float64()
			cosines[i], sines[i] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
		var err error
		y := on(t, &err, make([]runtime.BF16, len(xs)))
		err = errors.Join(err,
			NormRope(l, y, on(t, &err, xs), on(t, &err, ws), on(t, &err, cosines),
				on(t, &err, sines), r))
		if err != nil {
			return err
		}
		var want []float64
		for row := range rows {
			line, squares := f.Decode(xs[row*r.Width:][:r.Width]), 0.0
			for _, v := range line {
				squares += v * v / float64(r.Width)
			}
			for i, v := range line {
				line[i] = v / math.Sqrt(squares+eps) * f.Float(ws[i])
			}
			for i, v := range line {
				other := line[(i+half)%r.Width]
				if i < half {
					other = -other
				}
				at := row/r.Heads*half + i%half
				want = append(want, v*float64(cosines[at])+other*float64(sines[at]))
			}
		}
		err = compare(t, fmt.Sprintf("RoPE, %d rows of %d", rows, r.Width), f, y, want,
			f.ULPs(0.5).Plus(kerneltest.Abs(0x1p-20)))
		if err != nil {
			return err
		}
	}
	return nil
}

// checkExperts has experts without rows, and with one row and more rows than a tile.
func checkExperts(t *kerneltest.T, l *Library) error {
	f := kerneltest.Narrow(isa.E4m3)
	for _, e := range []Experts{{[]int{0, 1, 0}, 8, 16}, {[]int{130, 0, 5}, 40, 144}} {
		from := starts(e.Rows)
		rows, steps := int(from[len(e.Rows)]), (e.K+moe.Block-1)/moe.Block
		factors := func(n int) []float32 {
			return kerneltest.Random(t, kerneltest.F32.Within(0.25, 1), n)
		}
		as, gs, us := kerneltest.Random(t, f, rows*e.K),
			kerneltest.Random(t, f, len(e.Rows)*e.N*e.K),
			kerneltest.Random(t, f, len(e.Rows)*e.N*e.K)
		ofA, ofG, ofU := factors(rows*steps), factors(len(e.Rows)*steps), factors(len(e.Rows)*steps)
		if rows > 1 {
			as[e.K] = f.From(math.NaN())
			ofA[2*steps] = float32(math.Inf(1))
		}
		var err error
		d := on(t, &err, make([]runtime.BF16, rows*e.N))
		err = errors.Join(err, SwiGLU(l, d, FP8{on(t, &err, as), on(t, &err, ofA)},
			FP8{on(t, &err, gs), on(t, &err, ofG)}, FP8{on(t, &err, us), on(t, &err, ofU)}, e))
		if err != nil {
			return err
		}
		got, err := runtime.Download(d)
		if err != nil {
			return err
		}
		var have, want []float64
		for i := range e.Rows {
			for row := int(from[i]); row < int(from[i+1]); row++ {
				for col := range e.N {
					product := func(codes []uint8, factors []float32) (sum float64) {
						for k := range e.K {
							sum += f.Float(as[row*e.K+k]) * float64(ofA[row*steps+k/moe.Block]) *
								f.Float(codes[(i*e.N+col)*e.K+k]) *
								float64(factors[i*steps+k/moe.Block])
						}
						return sum
					}
					g, u := product(gs, ofG), product(us, ofU)
					swish := g / (1 + math.Exp(-g))
					// an error of one product is multiplied by the other one
					scale := 1 + math.Abs(u) + math.Abs(swish)
					if math.IsInf(scale, 1) {
						scale = 1
					}
					want = append(want, swish*u/scale)
					have = append(have, kerneltest.BF16.Float(got[row*e.N+col])/scale)
				}
			}
		}
		what := fmt.Sprintf("SwiGLU, %d experts, %dx%dx%d", len(e.Rows), rows, e.N, e.K)
		err = kerneltest.Compare(t, what, have, want,
			kerneltest.Rel(0x1p-8).Plus(kerneltest.Abs(0x1p-14).TruncatedEvery(32).Sum(e.K)))
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSparse multiplies matrices of a type whose sizes are not multiples of a tile.
func checkSparse[D, E runtime.Element](t *kerneltest.T, l *Library, f kerneltest.Format[E],
	out kerneltest.Format[D], tolerance kerneltest.Tolerance) error {
	for _, g := range []kerneltest.GEMM{{M: 1, N: 1, K: 1}, {M: 37, N: 53, K: 100},
		{M: 5, N: 2, K: 1024}} {
		as, bs := kerneltest.Random(t, f, g.M*g.K), kerneltest.Random(t, f, g.N*g.K)
		step := 4 // one of four elements is kept, or two
		if f.Name == kerneltest.TF32.Name {
			step = 2
		}
		for i := range as {
			if at := i % g.K % step; at != i/g.K%step && (step == 2 || at != i/step%step) {
				as[i] = 0
			}
		}
		kerneltest.EdgeRows(t, f, g.M, g.K, 0, func(row, col int) *E { return &as[row*g.K+col] })
		a, err := Compress(l, as, g.M, g.K)
		if err != nil {
			return err
		}
		d := on(t, &err, make([]D, g.M*g.N))
		err = errors.Join(err, MultiplySparse(l, d, a, on(t, &err, bs), g.N))
		if err != nil {
			return err
		}
		want := make([]float64, g.M*g.N)
		for i := range want {
			for k := range g.K {
				if x := as[i/g.N*g.K+k]; x != 0 {
					want[i] += f.Float(x) * f.Float(bs[i%g.N*g.K+k])
				}
			}
		}
		err = errors.Join(compare(t, fmt.Sprintf("sparse, %s", g), out, d, want,
			tolerance.Sum(g.K)),
			a.Close(), d.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

// checkReduce adds the vectors of two and of three devices. Some elements of two vectors are edge
// values. A sum of three elements of 16 bits is exact in F32.
func checkReduce[E runtime.Element](t *kerneltest.T, l *Library, f kerneltest.Format[E]) error {
	place := "emu:" + t.Target() + ":%d"
	if !l.device.Info().Emulated {
		place = "cuda:%d"
		last, err := runtime.Open(fmt.Sprintf(place, 2))
		if err != nil {
			return kerneltest.Skip("there are fewer than three devices: %v", err)
		}
		defer last.Close()
	}
	all := []*Library{l}
	for i := 1; i < 3; i++ {
		d, err := runtime.Open(fmt.Sprintf(place, i))
		if err != nil {
			return err
		}
		defer d.Close()
		all = append(all, New(d))
		for _, n := range []int{1, 1001} {
			var vectors []*runtime.Buffer[E]
			want := make([]float64, n)
			for _, l := range all {
				xs := kerneltest.Random(t, f.Within(0.5, 1), n)
				if len(all) == 2 && n > 100 {
					xs = kerneltest.RandomEdges(t, f, n)
				}
				v, err := runtime.Upload(l.device, xs)
				if err != nil {
					return err
				}
				vectors = append(vectors, v)
				for j, x := range xs {
					want[j] += f.Float(x)
				}
			}
			if err := AllReduce(all, vectors); err != nil {
				return err
			}
			for j, x := range want {
				want[j] = f.Float(f.From(x)) // too large sums become infinite
			}
			var tolerance kerneltest.Tolerance
			if len(all) > 2 && f.Name == kerneltest.F32.Name {
				tolerance = f.ULPs(1)
			}
			for j, v := range vectors {
				what := fmt.Sprintf("device %d of %d, %d elements", j, len(all), n)
				if err := compare(t, what, f, v, want, tolerance); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
