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

// fp8Variants returns the kernels for heads of E4M3.
func fp8Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	for _, s := range fp8Shapes() {
		list = append(list, kerneltest.Variant{
			Option: "attention with wgmma in FP8", Name: s.Name(), Targets: []string{"sm_90a"},
			Build: func(m *dsl.Module) { BuildFP8(m, s) },
			Check: func(t *kerneltest.T) error {
				return checkFP8(t, s, FP8For(s), size{2, 70, 133}, size{1, 129, 257})
			},
			Why: "probabilities are rounded to E4M3; errors times the root of the keys of a query",
		})
	}
	return list
}

// fp8Shapes returns the shapes that BuildFP8 supports.
func fp8Shapes() (list []Shape) {
	for _, width := range []int{64, 128, 256} {
		list = append(list, Shape{isa.E4m3, width, false}, Shape{isa.E4m3, width, true})
	}
	return list
}

// checkFP8Shapes runs the kernels for heads of E4M3.
func checkFP8Shapes(t *kerneltest.T) error {
	for _, s := range fp8Shapes() {
		cost := func(z size) int {
			return z.heads * kerneltest.GEMM{M: z.queries, N: z.keys, K: 2 * s.Width}.Cost()
		}
		sizes := kerneltest.Sizes(t, cost, size{2, 1, 1}, size{1, 10, 150}, size{2, 70, 133},
			size{2, 129, 257}, size{4, 512, 512}, size{300, 1, 200}, size{2, 300, 4001})
		shapes := []FP8{FP8For(s)}
		if direct := DirectFP8For(s); direct != shapes[0] && !s.Causal {
			shapes = append(shapes, direct)
		}
		for _, h := range shapes {
			if err := checkFP8(t, s, h, sizes...); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFP8 transposes values and runs BuildFP8 on them, for several sizes.
func checkFP8(t *kerneltest.T, s Shape, h FP8, sizes ...size) error {
	transpose, e1 := t.Kernel("transpose_"+s.Name(), func(m *dsl.Module) { BuildTransposed(m, s) })
	kernel, e2 := t.Kernel("hopper_"+s.Name(), func(m *dsl.Module) { BuildFP8With(m, s, h) })
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	for _, z := range sizes {
		x := newFP8Heads(t, s, z)
		padded := Padded(z.keys)
		transposed, out := make([]uint8, z.heads*s.Width*padded), make([]runtime.BF16, len(x.q))
		err := t.Launch(transpose, runtime.Grid(TransposedGrid(s, z.heads, z.keys)),
			kerneltest.In(x.v), kerneltest.Out(transposed), z.keys)
		what := fmt.Sprintf("%d heads of %d queries and %d keys", z.heads, z.queries, z.keys)
		if err = errors.Join(err, kerneltest.Equal(t, transpose.Name()+", "+what, transposed,
			x.transposed(s, z))); err != nil {
			return err
		}
		blocks := (z.queries + h.Queries() - 1) / h.Queries() * z.heads
		if err := t.Launch(kernel, runtime.Grid(min(blocks, t.Device.Info().SMs)),
			kerneltest.In(x.q).Tensor(z.heads, z.queries, s.Width),
			kerneltest.In(x.k).Tensor(z.heads, z.keys, s.Width),
			kerneltest.In(transposed).Tensor(z.heads, s.Width, padded), kerneltest.Out(out),
			z.queries, z.keys, z.heads, kerneltest.In(x.descale[0]), kerneltest.In(x.descale[1]),
			kerneltest.In(x.descale[2])); err != nil {
			return err
		}
		if err := x.compare(t, kernel.Name()+", "+what, s, z,
			kerneltest.BF16.Decode(out)); err != nil {
			return err
		}
	}
	return nil
}

// fp8Heads are random heads of E4M3 with edge values, and the factor of each head of q, k and v.
type fp8Heads struct {
	q, k, v []uint8
	descale [3][]float32
}

func newFP8Heads(t *kerneltest.T, s Shape, z size) fp8Heads {
	f := kerneltest.Narrow(isa.E4m3)
	codes := make([]uint8, 256) // of numbers from -1 to 1; Random is slow for large sizes
	for i := range codes {
		codes[i] = f.From(float64(2*i+1)/256 - 1)
	}
	random := func(rows int) []uint8 {
		list := make([]uint8, z.heads*rows*s.Width)
		for i := range list {
			list[i] = codes[t.Rand.IntN(len(codes))]
		}
		return list
	}
	x := fp8Heads{q: random(z.queries), k: random(z.keys), v: random(z.keys)}
	for i := range x.descale {
		for range z.heads {
			x.descale[i] = append(x.descale[i], 0.5+t.Rand.Float32()/2)
		}
	}
	if z.keys == 1 {
		for i := range x.v {
			x.v[i] = f.Edges()[i%len(f.Edges())]
		}
	} else {
		// all queries see the first key
		x.v[0], x.v[3] = f.From(math.NaN()), f.Edges()[1]
	}
	if z.queries > 1 {
		x.q[len(x.q)-1] = f.From(math.NaN())
	}
	return x
}

// transposed returns the result of BuildTransposed.
func (x fp8Heads) transposed(s Shape, z size) []uint8 {
	padded := Padded(z.keys)
	list := make([]uint8, z.heads*s.Width*padded)
	for head := range z.heads {
		for col := range s.Width {
			for i := range padded {
				// column 4t+i has key 2t+i, and column 4t+2+i key 8+2t+i
				key := i/16*16 + i%16/4*2 + i%4/2*8 + i%2
				if key < z.keys {
					list[(head*s.Width+col)*padded+i] = x.v[(head*z.keys+key)*s.Width+col]
				}
			}
		}
	}
	return list
}

// fp8Tolerance is for results of n keys times the largest power of two up to the root of n. The
// four significant bits of a probability have an error of up to 2^-4 of it, of which the deviation
// is at most 2^-4/√3. The deviation of a sum of n products with values up to one, divided by the
// sum of the probabilities, is a third of 2^-4/√n: the bound is six times as large.
var fp8Tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-3))

// compare compares results with the reference.
func (x fp8Heads) compare(t *kerneltest.T, what string, s Shape, z size, got []float64) error {
	f := kerneltest.Narrow(isa.E4m3)
	part := func(which, head, rows int, list []uint8) []float64 {
		values := f.Decode(list[head*rows*s.Width:][:rows*s.Width])
		for i := range values {
			values[i] *= float64(x.descale[which][head])
		}
		return values
	}
	var want []float64
	for head := range z.heads {
		want = append(want, Reference(part(0, head, z.queries, x.q), part(1, head, z.keys, x.k),
			part(2, head, z.keys, x.v), s.Width, s.Causal)...)
	}
	tolerance := fp8Tolerance
	if z.keys == 1 { // the probability is one
		tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Rel(0x1p-21))
	}
	for i := range want {
		keys := z.keys
		if s.Causal {
			keys -= z.queries - 1 - i/s.Width%z.queries
		}
		scale := math.Exp2(math.Floor(math.Log2(float64(keys)) / 2))
		got[i], want[i] = got[i]*scale, want[i]*scale
	}
	return kerneltest.Compare(t, what, got, want, tolerance)
}
