// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernels are built: BuildHopper for sm_90a,
// BuildBlackwell for sm_100a, and Build for all targets except sm_100a.
var Targets = []string{"sm_80", "sm_90", "sm_90a", "sm_100a", "sm_120"}

// Reference returns the attention of one head whose rows have width elements, computed on the
// CPU. The result of a query that sees no key is zero.
func Reference(q, k, v []float64, width int, causal bool) []float64 {
	n, m := len(q)/width, len(k)/width
	out := make([]float64, len(q))
	for i := range n {
		visible := m
		if causal {
			visible = m - n + i + 1
		}
		weights := make([]float64, max(0, visible))
		largest, sum := math.Inf(-1), 0.0
		for j := range weights {
			for c := range width {
				weights[j] += q[i*width+c] * k[j*width+c]
			}
			weights[j] /= math.Sqrt(float64(width))
			largest = max(largest, weights[j])
		}
		for j, w := range weights {
			weights[j] = math.Exp(w - largest)
			sum += weights[j]
		}
		for c := range width {
			for j, w := range weights {
				out[i*width+c] += w / sum * v[j*width+c]
			}
		}
	}
	return out
}

// A size is a number of heads, and the numbers of queries and keys of each head.
type size struct{ heads, queries, keys int }

// Check runs all kernels for the device on several heads, with sizes that are not all multiples of
// the tile, and on sm_90a also those for heads of E4M3.
func Check(t *kerneltest.T) error {
	widths := []int{64, 128}
	if t.Target() == "sm_90a" {
		widths = append(widths, 256)
	}
	for _, width := range widths {
		cost := func(s size) int {
			return s.heads * kerneltest.GEMM{M: s.queries, N: s.keys, K: 2 * width}.Cost()
		}
		for _, causal := range []bool{false, true} {
			for _, s := range kerneltest.Sizes(t, cost, size{2, 1, 1}, size{2, 1, 77},
				size{1, 70, 133},
				size{2, 64, 64}, size{3, 128, 192}, size{1, 200, 333}, size{4, 512, 512},
				size{300, 1, 200}, size{67, 129, 130}) {
				if err := errors.Join(
					checkShape(t, Shape{isa.F16, width, causal}, s),
					checkShape(t, Shape{isa.Bf16, width, causal}, s),
				); err != nil {
					return err
				}
			}
		}
	}
	if t.Target() == "sm_90a" {
		return checkFP8Shapes(t)
	}
	return nil
}

// checkShape runs all kernels for a shape on heads of several sizes. Probabilities, which are at
// most 1, and results are rounded to the type: the error is half of 2^-11 for F16 and half of
// 2^-8 for BF16.
func checkShape(t *kerneltest.T, shape Shape, sizes ...size) error {
	var errs []error
	for _, s := range sizes {
		if shape.Type == isa.F16 {
			errs = append(errs,
				check(t, shape, s, kerneltest.F16,
					kerneltest.F16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-12))))
		} else {
			errs = append(errs,
				check(t, shape, s, kerneltest.BF16,
					kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-9))))
		}
	}
	return errors.Join(errs...)
}

// check runs all kernels for a shape on random heads with edge values. If there is only one key,
// its weight is one, and the result is its value.
func check[E runtime.Element](
	t *kerneltest.T, shape Shape, s size, f kerneltest.Format[E], tolerance kerneltest.Tolerance,
) error {
	n, m := s.queries*shape.Width, s.keys*shape.Width
	q := kerneltest.Random(t, f, s.heads*n)
	k, v := kerneltest.Random(t, f, s.heads*m), kerneltest.Random(t, f, s.heads*m)
	if s.keys == 1 {
		list := f.Edges()
		for i := range v {
			v[i] = list[i%len(list)]
		}
	} else {
		unusual(f, v[:shape.Width])
	}
	if s.queries > 1 {
		q[len(q)-1] = f.From(math.NaN()) // affects the last result
	}
	var want []float64
	for h := range s.heads {
		head := func(xs []E, n int) []float64 { return f.Decode(xs[h*n:][:n]) }
		want = append(want,
			Reference(head(q, n), head(k, m), head(v, m), shape.Width, shape.Causal)...)
	}
	for _, kind := range variants(t, shape) {
		kernel, err := t.Kernel(kind.name, func(m *dsl.Module) { kind.build(m, shape) })
		if err != nil {
			return err
		}
		out := make([]E, len(q))
		grid, heads := kind.grid(t, s)
		err = t.Launch(kernel, grid, append([]any{
			kerneltest.In(q).Tensor(s.heads, s.queries, shape.Width),
			kerneltest.In(k).Tensor(s.heads, s.keys, shape.Width),
			kerneltest.In(v).Tensor(s.heads, s.keys, shape.Width), kerneltest.Out(out), s.queries,
			s.keys,
		}, heads...)...)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		what := fmt.Sprintf("%s, %d heads of %d queries and %d keys", kind.name, s.heads, s.queries,
			s.keys)
		if err := kerneltest.Compare(t, what, f.Decode(out), want, tolerance); err != nil {
			return err
		}
	}
	return nil
}

// unusual replaces some elements of a value by NaN, the infinities and the smallest number. All
// queries must see the key of this value: a masked key has the weight zero, and zero times an
// infinity is NaN. Larger finite numbers are not used, because their rounding errors exceed the
// tolerance of other elements.
func unusual[E runtime.Element](f kerneltest.Format[E], value []E) {
	for i, x := range []E{f.From(math.NaN()), f.From(math.Inf(1)), f.From(math.Inf(-1)),
		f.Edges()[4]} {
		value[3*i] = x
	}
}

// A variant is one of the kernels that compute attention.
type variant struct {
	name       string
	queries    int  // number of queries per block
	persistent bool // a block computes several tiles; the last parameter is the number of heads
	build      func(*dsl.Module, Shape)
}

// variants returns the kernels that the device can run.
func variants(t *kerneltest.T, s Shape) []variant {
	var list []variant
	if s.Width <= 128 {
		list = append(list, variant{s.Name(), Queries, false, Build})
	}
	switch t.Target() {
	case "sm_90a":
		list = append(list,
			variant{"hopper_" + s.Name(), HopperFor(s).Queries(), true, BuildHopper})
	case "sm_100a", "sm_103a":
		list = append(list,
			variant{"blackwell_" + s.Name(), BlackwellQueries, false, BuildBlackwell})
	}
	return list
}

// grid returns the grid for a size, and the last argument of a persistent kernel.
func (v variant) grid(t *kerneltest.T, s size) (grid runtime.Config, heads []any) {
	blocks := (s.queries + v.queries - 1) / v.queries
	if v.persistent {
		return runtime.Grid(min(blocks*s.heads, t.Device.Info().SMs)), []any{s.heads}
	}
	return runtime.Grid(blocks, s.heads), nil
}

// Speed notes the speed of the kernels for 64 heads of 4096 queries and keys with 128 elements of
// BF16. Each time is the median of 30 launches.
func Speed(t *kerneltest.T) error {
	for _, causal := range []bool{false, true} {
		shape, s := Shape{isa.Bf16, 128, causal}, size{64, 4096, 4096}
		x := kerneltest.Random(t, kerneltest.BF16, s.heads*s.queries*shape.Width)
		for _, v := range variants(t, shape) {
			took, err := v.time(t, shape, s, x)
			if err != nil {
				return err
			}
			work := 4 * float64(s.heads*shape.Width) * float64(s.queries) * float64(s.keys)
			if causal {
				work /= 2
			}
			t.Note("%s: %.0f TFLOP/s", v.name, work/took.Seconds()/1e12)
		}
	}
	return nil
}

// time returns the median time of launches in which one matrix is used as queries, keys and
// values.
func (v variant) time(t *kerneltest.T, shape Shape, s size,
	x []runtime.BF16) (time.Duration, error) {
	kernel, err := t.Kernel(v.name, func(m *dsl.Module) { v.build(m, shape) })
	if err != nil {
		return 0, err
	}
	in, e1 := runtime.Upload(t.Device, x)
	out, e2 := runtime.Alloc[runtime.BF16](t.Device, len(x))
	if err := errors.Join(e1, e2); err != nil {
		return 0, err
	}
	grid, heads := v.grid(t, s)
	var args []any
	for _, p := range kernel.Params()[:3] {
		var arg any = in
		if p.Box != nil {
			if arg, err = kernel.Tensor(p.Name, in,
				[]int{s.heads, s.queries, shape.Width}); err != nil {
				return 0, err
			}
		}
		args = append(args, arg)
	}
	args = append(append(args, out, s.queries, s.keys), heads...)
	took, err := t.Median(func() error { return kernel.Launch(grid, args...) })
	return took, errors.Join(err, in.Close(), out.Close())
}
