// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package w4a16

import (
	"errors"
	"fmt"
	"time"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernels are built and tested.
var Targets = []string{"sm_80", "sm_90"}

// A variant is one of the kernels.
type variant struct {
	name   string
	build  func(*dsl.Module)
	blocks func(m, n, k int) (runtime.Config, error)
	weight func(weight uint8, scale float32) float64 // value of a weight in the reference
	least  int                                       // compute capability that it needs
	ahead  bool                                      // whether it prefetches other weights
	most   int                                       // the most rows that it computes, or 0
}

var variants = []variant{
	{"w4a16", Build, func(m, n, k int) (runtime.Config, error) {
		blocks, err := Blocks(m, n, k)
		return runtime.Grid(blocks), err
	}, func(weight uint8, scale float32) float64 {
		return float64(Dequantize(weight, scale))
	}, 80, false, 0},
	{"w4a16_few", BuildFew, fewGrid, unrounded, 80, false, 0},
	{"w4a16_few_tensor", BuildFewTensor, fewGrid, unrounded, 90, false, 0},
	{"w4a16_few_ahead", func(m *dsl.Module) { BuildFewAhead(m, 0) }, fewGrid, unrounded, 90,
		true, 0},
	{"w4a16_few_tensor4_ahead", func(m *dsl.Module) { BuildFewAhead(m, 4) }, fewGrid, unrounded,
		90, true, 4},
	{"w4a16_few_tensor12_ahead", func(m *dsl.Module) { BuildFewAhead(m, 12) }, fewGrid, unrounded,
		90, true, 12},
	{"w4a16_few_tensor_ahead", func(m *dsl.Module) { BuildFewAhead(m, fewRows) }, fewGrid,
		unrounded, 90, true, 0},
}

// fewGrid returns the grid of the kernels for few rows.
func fewGrid(m, n, k int) (runtime.Config, error) {
	x, y, err := BlocksFew(m, n, k)
	return runtime.Grid(x, y), err
}

// unrounded returns the value of a weight that is not rounded.
func unrounded(weight uint8, scale float32) float64 {
	return float64(int(weight)-Zero) * float64(scale)
}

// tolerance is half a unit in the last place of F16, plus the error of F32 sums, which are
// truncated after every 8 products. Where a product with an edge value exceeds all others, the
// error of the sum is relative to it.
var tolerance = kerneltest.F16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-24).TruncatedEvery(8)).
	Plus(kerneltest.Rel(0x1p-23))

// Check multiplies random matrices of several shapes with both kernels, and compares the products
// with a host reference.
func Check(t *kerneltest.T) error {
	sizes := kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: 3, N: 64, K: 256}, kerneltest.GEMM{M: 33, N: 192, K: 256},
		kerneltest.GEMM{M: 16, N: 64, K: 512}, kerneltest.GEMM{M: 128, N: 256, K: 1024},
		kerneltest.GEMM{M: 333, N: 704, K: 640}, kerneltest.GEMM{M: 640, N: 1024, K: 2048},
	)
	// With K = 128, Build dequantizes the weights of a stage that has not been loaded, and does
	// not use them.
	sizes = append(sizes, kerneltest.GEMM{M: 1, N: 512, K: 128})
	for _, g := range sizes {
		for _, v := range variants {
			// the kernels that prefetch differ only at the end
			if t.Device.Info().Capability < v.least || v.ahead && g.K > 512 ||
				v.most > 0 && g.M > v.most {
				continue
			}
			if err := v.check(t, g); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
		}
	}
	return nil
}

// check runs the kernel on random matrices and compares the product with a host reference. Some
// rows of A have an edge value.
func (v variant) check(t *kerneltest.T, g kerneltest.GEMM) error {
	weights := make([]uint8, g.N*g.K)
	for i := range weights {
		weights[i] = uint8(t.Rand.IntN(16))
	}
	// With these scales, no weight has a magnitude of more than one.
	scales := kerneltest.Random(t, kerneltest.F16.Within(-1./Zero, 1./Zero), g.K/Group*g.N)
	packed, e1 := Pack(weights, g.N, g.K)
	factors, e2 := PackScales(scales, g.N)
	grid, e3 := v.blocks(g.M, g.N, g.K)
	k, e4 := t.Kernel(v.name, v.build)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	b := kerneltest.MatrixOf(g.N, g.K, packed, func(row, col int) float64 {
		scale := scales[col/Group*g.N+row].Float32()
		return v.weight(weights[row*g.K+col], scale)
	})
	a := kerneltest.EdgeMatrix(t, g.M, g.K, kerneltest.F16, 0)
	more := map[string]kerneltest.Matrix{
		"scales": kerneltest.MatrixOf(g.K/Group, g.N, factors, nil),
		"next":   kerneltest.MatrixOf(g.N, g.K, packed, nil)}
	return kerneltest.Multiply(t, k, grid, a, b, kerneltest.F16, tolerance, more)
}

// Speed notes the speed for many rows in FLOP/s, and for few rows in bytes of weights per second:
// for one matrix, and for several layers whose weights do not fit into the cache.
func Speed(t *kerneltest.T) error {
	const n, depth, layers = 8192, 8192, 8
	for i, rows := range []int{4096, 16} {
		w := variants[i]
		k, e1 := t.Kernel(w.name, w.build)
		grid, e2 := w.blocks(rows, n, depth)
		a, e3 := runtime.Upload(t.Device, kerneltest.Random(t, kerneltest.F16, rows*depth))
		b, e4 := runtime.Upload(t.Device, t.Uint32s(layers*n*depth/8))
		scales, e5 := runtime.Upload(t.Device, kerneltest.Random(t, kerneltest.F16, depth/Group*n))
		d, e6 := runtime.Alloc[runtime.F16](t.Device, rows*n)
		if err := errors.Join(e1, e2, e3, e4, e5, e6); err != nil {
			return err
		}
		behind := grid
		if rows == 16 && t.Device.Info().Capability >= 90 {
			behind = grid.Programmatic()
		}
		layer := func(i int) error {
			weights, err := b.Slice(i*n*depth/8, (i+1)*n*depth/8)
			if err != nil {
				return err
			}
			return k.Launch(behind, a, weights, scales, d, rows, n, depth)
		}
		one, e1 := t.Median(func() error { return layer(0) })
		all, e2 := t.Median(func() error {
			for i := range layers {
				if err := layer(i); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(e1, e2, a.Close(), b.Close(), scales.Close(), d.Close()); err != nil {
			return err
		}
		for _, m := range []struct {
			name string
			took time.Duration
		}{{"", one}, {" of layers", all / layers}} {
			work, weights := 2*float64(rows)*n*depth, n*depth/2.0
			t.Note("%d rows%s: %.0f TFLOP/s, %.0f GB/s of weights", rows, m.name,
				work/m.took.Seconds()/1e12, weights/m.took.Seconds()/1e9)
		}
	}
	return nil
}

// Dequantize returns the value of a weight, rounded to F16 like in the kernel of Build.
func Dequantize(weight uint8, scale float32) float32 {
	return runtime.ToF16(float32(int(weight)-Zero) * scale).Float32()
}
