// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"errors"
	"fmt"
	"math"
	"time"

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

// Check runs every kind of kernel on several heads, of which some end within a tile, and some are more than the machine has multiprocessors.
func Check(t *trial.T) error {
	for _, width := range []int{64, 128} {
		for _, causal := range []bool{false, true} {
			for _, size := range [][3]int{{2, 64, 64}, {3, 128, 192}, {2, 1, 77}, {1, 200, 333}, {4, 512, 512}, {300, 1, 200}, {67, 129, 130}} {
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

// check runs the kernels of a shape on so many heads of so many queries and keys: where there is wgmma, both.
func check[E runtime.Element](t *trial.T, s Shape, size [3]int, q, k, v []E, widen func(E) float32, tolerance float64) error {
	wide := func(xs []E) []float32 {
		list := make([]float32, len(xs))
		for i, x := range xs {
			list[i] = widen(x)
		}
		return list
	}
	fq, fk, fv := wide(q), wide(k), wide(v)
	var want []float32
	for h := range size[0] {
		n, m := size[1]*s.Width, size[2]*s.Width
		want = append(want, Reference(fq[h*n:(h+1)*n], fk[h*m:(h+1)*m], fv[h*m:(h+1)*m], s.Width, s.Causal)...)
	}
	for _, w := range ways[E](t, s) {
		out, err := w.run(t, s, size, q, k, v)
		if err != nil {
			return err
		}
		if err := trial.Near(fmt.Sprintf("%s, %d heads of %d queries and %d keys", w.name, size[0], size[1], size[2]), wide(out), want, tolerance); err != nil {
			return err
		}
	}
	return nil
}

// A way is a kernel that computes attention.
type way[E runtime.Element] struct {
	name  string
	tile  int  // queries of a block
	stays bool // blocks take one tile after the other, and are told how many heads there are
	build func(*dsl.Module, Shape)
	as    func(k *runtime.Kernel, param string, x *runtime.Buffer[E], sizes ...int) (any, error) // how it takes its factors
}

// ways are the kernels that the device can run.
func ways[E runtime.Element](t *trial.T, s Shape) []way[E] {
	list := []way[E]{{s.Name(), Queries, false, Build, asBuffer[E]}}
	switch t.Target() {
	case "sm_90a":
		list = append(list, way[E]{"hopper_" + s.Name(), HopperQueries, true, BuildHopper, asTensor[E]})
	case "sm_100a", "sm_103a":
		list = append(list, way[E]{"blackwell_" + s.Name(), BlackwellQueries, false, BuildBlackwell, asTensor[E]})
	}
	return list
}

func asBuffer[E runtime.Element](_ *runtime.Kernel, _ string, x *runtime.Buffer[E], _ ...int) (any, error) {
	return x, nil
}

func asTensor[E runtime.Element](k *runtime.Kernel, param string, x *runtime.Buffer[E], sizes ...int) (any, error) {
	return k.Tensor(param, x, sizes)
}

// A job is a launch that can be made again and again.
type job[E runtime.Element] struct {
	launch func() error
	out    *runtime.Buffer[E]
	close  func() error
}

func (w way[E]) job(t *trial.T, s Shape, size [3]int, q, k, v []E) (j job[E], err error) {
	kernel, err := t.Kernel(w.name, func(m *dsl.Module) { w.build(m, s) })
	if err != nil {
		return j, err
	}
	heads, queries, keys := size[0], size[1], size[2]
	pq, e1 := runtime.Upload(t.Device, q)
	pk, e2 := runtime.Upload(t.Device, k)
	pv, e3 := runtime.Upload(t.Device, v)
	po, e4 := runtime.Alloc[E](t.Device, len(q))
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return j, err
	}
	aq, e1 := w.as(kernel, "q", pq, heads, queries, s.Width)
	ak, e2 := w.as(kernel, "k", pk, heads, keys, s.Width)
	av, e3 := w.as(kernel, "v", pv, heads, keys, s.Width)
	blocks, sizes := (queries+w.tile-1)/w.tile, []any{aq, ak, av, po, queries, keys}
	grid := runtime.Grid(blocks, heads)
	if w.stays {
		grid, sizes = runtime.Grid(min(blocks*heads, t.Device.Info().SMs)), append(sizes, heads)
	}
	return job[E]{
		launch: func() error { return kernel.Launch(grid, sizes...) },
		out:    po,
		close:  func() error { return errors.Join(pq.Close(), pk.Close(), pv.Close(), po.Close()) },
	}, errors.Join(e1, e2, e3)
}

func (w way[E]) run(t *trial.T, s Shape, size [3]int, q, k, v []E) ([]E, error) {
	j, err := w.job(t, s, size, q, k, v)
	if err != nil {
		return nil, err
	}
	if err := j.launch(); err != nil {
		return nil, err
	}
	out, err := runtime.Download(j.out)
	return out, errors.Join(err, j.close())
}

// Speed notes how fast the kernels are: heads of 128 numbers in BF16, 64 heads of 4096 queries and keys, the median of 30 launches.
func Speed(t *trial.T) error {
	for _, causal := range []bool{false, true} {
		s, size := Shape{isa.Bf16, 128, causal}, [3]int{64, 4096, 4096}
		x := trial.BF16(t.Floats(size[0] * size[1] * s.Width))
		for _, w := range ways[runtime.BF16](t, s) {
			took, err := w.time(t, s, size, x)
			if err != nil {
				return err
			}
			work := 4 * float64(size[0]*s.Width) * float64(size[1]) * float64(size[2])
			if causal {
				work /= 2
			}
			t.Note("%s: %.0f TFLOP/s", w.name, work/took.Seconds()/1e12)
		}
	}
	return nil
}

// time is the median of 30 launches with one matrix for all factors, of which the first few do not count.
func (w way[E]) time(t *trial.T, s Shape, size [3]int, x []E) (time.Duration, error) {
	j, err := w.job(t, s, size, x, x, x)
	if err != nil {
		return 0, err
	}
	took, err := t.Median(j.launch)
	return took, errors.Join(err, j.close())
}
