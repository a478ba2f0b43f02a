// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"errors"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Reference is the attention of one head: rows of width numbers for n queries, and for as many keys and values.
func Reference(q, k, v []float32, width int, causal bool) []float32 {
	n, m := len(q)/width, len(k)/width
	out := make([]float32, len(q))
	for i := range n {
		seen := m
		if causal {
			seen = m - n + i + 1
		}
		weights := make([]float64, seen)
		most, sum := math.Inf(-1), 0.0
		for j := range weights {
			for c := range width {
				weights[j] += float64(q[i*width+c]) * float64(k[j*width+c])
			}
			weights[j] /= math.Sqrt(float64(width))
			most = max(most, weights[j])
		}
		for j, w := range weights {
			weights[j] = math.Exp(w - most)
			sum += weights[j]
		}
		for c := range width {
			x := 0.0
			for j, w := range weights {
				x += w * float64(v[j*width+c])
			}
			out[i*width+c] = float32(x / sum)
		}
	}
	return out
}

// Check runs every kind of kernel on several heads, of which some end within a tile.
func Check(t *trial.T) error {
	for _, width := range []int{64, 128} {
		for _, causal := range []bool{false, true} {
			for _, size := range [][3]int{{2, 64, 64}, {3, 128, 192}, {2, 1, 77}, {1, 200, 333}, {4, 512, 512}} {
				q, k, v := t.Floats(size[0]*size[1]*width), t.Floats(size[0]*size[2]*width), t.Floats(size[0]*size[2]*width)
				if err := errors.Join(
					check(t, Shape{isa.F16, width, causal}, size, trial.F16(q), trial.F16(k), trial.F16(v), runtime.F16.Float32, 2e-3),
					check(t, Shape{isa.Bf16, width, causal}, size, trial.BF16(q), trial.BF16(k), trial.BF16(v), runtime.BF16.Float32, 1.6e-2),
				); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// check runs the kernel of a shape on so many heads of so many queries and keys.
func check[E runtime.Element](t *trial.T, s Shape, size [3]int, q, k, v []E, widen func(E) float32, tolerance float64) error {
	kernel, err := t.Kernel(s.Name(), func(m *dsl.Module) { Build(m, s) })
	if err != nil {
		return err
	}
	pq, e1 := runtime.Upload(t.Device, q)
	pk, e2 := runtime.Upload(t.Device, k)
	pv, e3 := runtime.Upload(t.Device, v)
	po, e4 := runtime.Alloc[E](t.Device, len(q))
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	heads, queries, keys := size[0], size[1], size[2]
	if err := kernel.Launch(runtime.Grid((queries+Queries-1)/Queries, heads), pq, pk, pv, po, queries, keys); err != nil {
		return err
	}
	out, err := runtime.Download(po)
	if err := errors.Join(err, pq.Close(), pk.Close(), pv.Close(), po.Close()); err != nil {
		return err
	}
	wide := func(xs []E) []float32 {
		list := make([]float32, len(xs))
		for i, x := range xs {
			list[i] = widen(x)
		}
		return list
	}
	fq, fk, fv := wide(q), wide(k), wide(v)
	var want []float32
	for h := range heads {
		n, m := queries*s.Width, keys*s.Width
		want = append(want, Reference(fq[h*n:(h+1)*n], fk[h*m:(h+1)*m], fv[h*m:(h+1)*m], s.Width, s.Causal)...)
	}
	return trial.Near(fmt.Sprintf("%s, %d heads of %d queries and %d keys", s.Name(), heads, queries, keys), wide(out), want, tolerance)
}
