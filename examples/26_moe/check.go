// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package moe

import (
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_90a"}

// experts holds the number of rows of each expert, and the sizes n and k that all experts share.
type experts struct {
	rows []int
	n, k int
}

// cost returns the cost of a check, for kerneltest.Sizes.
func (e experts) cost() int {
	rows := 0
	for _, n := range e.rows {
		rows += n
	}
	return 2 * kerneltest.GEMM{M: rows, N: e.n, K: e.k}.Cost()
}

// sizes are the sizes of the checks: with experts that have no row, one row, and more rows than a
// tile, and with n and k that are not multiples of a tile.
var sizes = []experts{
	{[]int{0, 1, 0}, 8, 16}, {[]int{130, 0, 5}, 40, 144}, {[]int{3, 65}, 136, 112},
	{[]int{130, 0, 64, 3}, 136, 272},
	{[]int{300, 0, 517, 128}, 1032, 1040},
}

// Check runs the kernel on random rows, some of which have edge values, and compares the results
// with a host reference.
func Check(t *kerneltest.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	kernel, err := t.Kernel("moe_swiglu", Build)
	if err != nil {
		return err
	}
	for _, e := range kerneltest.Sizes(t, experts.cost, sizes...) {
		if err := e.check(t, kernel); err != nil {
			return fmt.Errorf("%v: %w", e.rows, err)
		}
	}
	return nil
}

// Variants returns the test configuration of the kernel.
func Variants() []kerneltest.Variant {
	return []kerneltest.Variant{{
		Option: "grouped FP8 GEMM with SwiGLU", Name: "e4m3 to bf16", Targets: Targets,
		Check: Check,
		Build: Build,
		Why:   "the result is rounded to BF16, and sums of 128 products keep 13 fraction bits of the largest",
	}}
}

// weights holds a weight matrix for each expert: the bits of the elements, and the scale factors.
type weights struct {
	codes   []uint8
	factors []float32
}

func (e experts) weights(t *kerneltest.T) weights {
	steps, blocks := (e.k+Block-1)/Block, (e.n+Block-1)/Block
	return weights{
		kerneltest.Random(t, kerneltest.Narrow(isa.E4m3), len(e.rows)*e.n*e.k),
		kerneltest.Random(t, kerneltest.F32.Within(0.25, 1), len(e.rows)*blocks*steps),
	}
}

// product returns the dot product of a row of A and a row of an expert's weights. The sum of each
// block of K is multiplied by its scale factors.
func (e experts) product(a []float64, factors []float32, w weights, expert, col int,
	values []float64) (sum float64) {
	steps, blocks := (e.k+Block-1)/Block, (e.n+Block-1)/Block
	for step := range steps {
		var part float64
		for i := step * Block; i < min(e.k, (step+1)*Block); i++ {
			part += a[i] * values[(expert*e.n+col)*e.k+i]
		}
		sum += part * float64(factors[step]) *
			float64(w.factors[(expert*blocks+col/Block)*steps+step])
	}
	return sum
}

// edges sets edge values in some rows of A, in their scale factors, and in the last row of
// weights of the last expert.
func (e experts) edges(t *kerneltest.T, a []uint8, factors []float32, gate weights) {
	f, all, steps := kerneltest.Narrow(isa.E4m3), len(a)/e.k, (e.k+Block-1)/Block
	kerneltest.EdgeRows(t, f, all, e.k, 0, func(row, k int) *uint8 { return &a[row*e.k+k] })
	for i, x := range []float64{0, 0x1p-149, 0x1p100, math.Inf(1), math.NaN()} {
		if row := 2 * i; row < all-1 {
			factors[row*steps] = float32(x)
		}
	}
	gate.codes[len(gate.codes)-1] = 0x7f // NaN, which affects all rows of the expert
}

// check runs the kernel and compares the results of all rows with a host reference.
func (e experts) check(t *kerneltest.T, kernel *runtime.Kernel) error {
	f := kerneltest.Narrow(isa.E4m3)
	starts := make([]uint32, 1, len(e.rows)+1)
	for i, n := range e.rows {
		starts = append(starts, starts[i]+uint32(n))
	}
	all, steps := int(starts[len(e.rows)]), (e.k+Block-1)/Block
	a, factors := kerneltest.Random(t, f, all*e.k),
		kerneltest.Random(t, kerneltest.F32.Within(0.25, 1), all*steps)
	gate, up := e.weights(t), e.weights(t)
	e.edges(t, a, factors, gate)
	d := make([]runtime.BF16, all*e.n)
	err := t.Launch(kernel, runtime.Grid(t.Device.Info().SMs), kerneltest.In(a).Tensor(all, e.k),
		kerneltest.In(gate.codes).Tensor(len(e.rows), e.n, e.k),
		kerneltest.In(up.codes).Tensor(len(e.rows), e.n, e.k),
		kerneltest.Out(d), kerneltest.In(factors), kerneltest.In(gate.factors),
		kerneltest.In(up.factors),
		kerneltest.In(starts), len(e.rows), e.n, e.k)
	if err != nil {
		return err
	}
	gates, ups := f.Decode(gate.codes), f.Decode(up.codes)
	var got, want []float64
	for i := range e.rows {
		for row := int(starts[i]); row < int(starts[i+1]); row++ {
			x := f.Decode(a[row*e.k:][:e.k])
			for col := range e.n {
				of := factors[row*steps:][:steps]
				g, u := e.product(x, of, gate, i, col, gates), e.product(x, of, up, i, col, ups)
				swish := g / (1 + math.Exp(-g))
				scale := 1 + math.Abs(u) + math.Abs(swish)
				if math.Abs(swish*u) > math.MaxFloat32 { // the result is infinite
					scale = 1
					swish = math.Copysign(math.Inf(1), swish)
				}
				want = append(want, swish*u/scale)
				got = append(got, kerneltest.BF16.Float(d[row*e.n+col])/scale)
			}
		}
	}
	what := fmt.Sprintf("%d experts, %dx%dx%d", len(e.rows), all, e.n, e.k)
	// The error of each of the two products is multiplied by the other product, so the tolerance
	// is relative to both. Rounding to BF16 adds up to 2^-9 of a result. Sums of a block of K
	// keep 13 fraction bits, relative to the largest product.
	return kerneltest.Compare(t, what, got, want,
		kerneltest.Rel(0x1p-8).Plus(kerneltest.Abs(0x1p-14).TruncatedEvery(32).Sum(e.k)))
}
