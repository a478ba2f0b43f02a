// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_100a", "sm_103a"}

// Check multiplies matrices of every type with one block and with a CTA pair, and BF16 also with
// tiles that the hardware assigns to blocks. Some shapes are not multiples of the tile. The
// products are compared with a host reference.
func Check(t *kerneltest.T) error {
	if err := t.Needs("tcgen05", 100, 120); err != nil {
		return err
	}
	for _, v := range Variants() {
		if !slices.Contains(v.Targets, t.Target()) {
			continue
		}
		if err := v.Check(t); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// checkTiling runs the kernel with one tiling on matrices of several shapes.
func checkTiling(t *kerneltest.T, tiling Tiling) error {
	k, err := t.Kernel("matmul", func(m *dsl.Module) { Build(m, tiling) })
	if err != nil {
		return err
	}
	for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: 133, N: 144, K: 80}, kerneltest.GEMM{M: 1, N: 16, K: 16},
		kerneltest.GEMM{M: 128, N: 256, K: 64},
		kerneltest.GEMM{M: 333, N: 1008, K: 80}, kerneltest.GEMM{M: 768, N: 1280, K: 448},
		kerneltest.GEMM{M: 2048, N: 2304, K: 2048},
	) {
		if err := tiling.multiply(t, k, g); err != nil {
			return err
		}
	}
	return nil
}

// multiply runs the kernel on random matrices with edge values, and compares the product with a
// host reference. A sum is truncated to F32 after every 32 bytes of a row.
func (t Tiling) multiply(on *kerneltest.T, k *runtime.Kernel, g kerneltest.GEMM) error {
	blocks, each := 1, 256/t.Type.Bits()
	if t.Pair {
		blocks = 2
	}
	clusters := (g.M + 128*blocks - 1) / (128 * blocks) * ((g.N + t.N - 1) / t.N)
	if !t.Dynamic {
		clusters = min(clusters, max(1, on.Device.Info().SMs/blocks))
	}
	grid := runtime.Grid(clusters * blocks)
	sums := kerneltest.Abs(0x1p-24).TruncatedEvery(each)
	switch t.Type {
	case isa.Bf16:
		return multiplied(on, k, grid, g, kerneltest.BF16, kerneltest.BF16,
			kerneltest.BF16.ULPs(0.5).Plus(sums))
	case isa.F16:
		return multiplied(on, k, grid, g, kerneltest.F16, kerneltest.F16,
			kerneltest.F16.ULPs(0.5).Plus(sums))
	case isa.Tf32:
		return multiplied(on, k, grid, g, kerneltest.TF32, kerneltest.F32, sums)
	case isa.S8:
		return multiplied(on, k, grid, g, kerneltest.S8, kerneltest.S32, kerneltest.Tolerance{})
	case isa.U8:
		return multiplied(on, k, grid, g, kerneltest.U8, kerneltest.S32, kerneltest.Tolerance{})
	}
	return multiplied(on, k, grid, g, kerneltest.Narrow(t.Type), kerneltest.BF16,
		kerneltest.BF16.ULPs(0.5).Plus(sums))
}

// multiplied multiplies matrices of one format and checks the product. In each matrix, every
// second one of the first rows contains only zeros and one edge value: NaN, an infinity, the
// largest or smallest number, or a zero.
func multiplied[E, D runtime.Element](t *kerneltest.T, k *runtime.Kernel, grid runtime.Config,
	g kerneltest.GEMM,
	in kerneltest.Format[E], out kerneltest.Format[D], tolerance kerneltest.Tolerance,
) error {
	matrix := func(rows, side int) kerneltest.Matrix {
		xs := kerneltest.Random(t, in, rows*g.K)
		for i, edge := range in.Edges() {
			if in.Name == kerneltest.TF32.Name {
				edge = in.From(in.Float(edge)) // the edge values of F32 have more bits than TF32
			}
			if row := 1 + 2*i; row < rows && i < 12 {
				line := xs[row*g.K:][:g.K]
				clear(line)
				// A and B have their edge values in different columns, so two edge values are
				// never multiplied
				line[2*t.Rand.IntN(g.K/2)+side] = edge
			}
		}
		return kerneltest.MatrixOf(rows, g.K, xs, func(row, col int) float64 {
			return in.Float(xs[row*g.K+col])
		})
	}
	return kerneltest.Multiply(t, k, grid, matrix(g.M, 0), matrix(g.N, 1), out, tolerance, nil)
}
