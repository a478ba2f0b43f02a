// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernels are built. Versions 1 to 3 need sm_90.
var Targets = []string{"sm_80", "sm_90", "sm_90a", "sm_120a"}

// Check multiplies matrices of several shapes with every version, every swizzle and every type,
// and compares the products with a host reference.
func Check(t *kerneltest.T) error {
	for _, v := range Variants() {
		switch c := t.Device.Info().Capability; {
		case c < 90 && !slices.Contains(v.Targets, "sm_80"):
			t.Note("%s needs the TMA of sm_90", v.Name)
			continue
		case c >= 120 && !slices.Contains(v.Targets, "sm_120a"):
			t.Note("%s needs more shared memory than sm_120 has", v.Name)
			continue
		}
		if err := v.Check(t); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// check builds one version and multiplies matrices of several shapes with it.
func check(t *kerneltest.T, version int, tiling Tiling) error {
	name := fmt.Sprintf("matmul_v%d", version)
	k, err := t.Kernel(name, func(m *dsl.Module) { build(version)(m, tiling) })
	if err != nil {
		return err
	}
	each := 128 / tiling.typ().Bits()
	for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: tiling.M, N: tiling.N, K: tiling.K},
		kerneltest.GEMM{M: 1, N: 2, K: each},
		kerneltest.GEMM{M: 133, N: 258, K: 5 * each}, kerneltest.GEMM{M: 333, N: 514, K: 25 * each},
		kerneltest.GEMM{M: 3 * tiling.M, N: 5 * tiling.N, K: 7 * tiling.K},
		kerneltest.GEMM{M: 2048, N: 1280, K: 2048},
	) {
		if err := tiling.multiply(t, k, version, g); err != nil {
			return fmt.Errorf("%s with a swizzle of %d bytes: %w", name, tiling.Swizzle, err)
		}
	}
	return nil
}

// build returns the function that adds the kernel of a version.
func build(version int) func(*dsl.Module, Tiling) { return append(Versions(), V3, V4)[version] }

// multiply runs one version on random matrices, and checks the product. An MMA truncates its sums
// after every 16 products.
func (t Tiling) multiply(on *kerneltest.T, k *runtime.Kernel, version int,
	g kerneltest.GEMM) error {
	blocks, err := t.Blocks(g.M, g.N, g.K)
	if err != nil {
		return err
	}
	if version >= 3 {
		blocks = min((blocks+1)/2, on.Device.Info().SMs) // about two tiles per block, or more
	}
	sums := kerneltest.Abs(0x1p-24).TruncatedEvery(16)
	switch t.typ() {
	case isa.S8:
		return multiplied(on, k, blocks, g, kerneltest.S8, kerneltest.S32, kerneltest.Tolerance{})
	case isa.F16:
		return multiplied(on, k, blocks, g, kerneltest.F16, kerneltest.F16,
			kerneltest.F16.ULPs(0.5).Plus(sums))
	}
	return multiplied(on, k, blocks, g, kerneltest.BF16, kerneltest.BF16,
		kerneltest.BF16.ULPs(0.5).Plus(sums))
}

// multiplied multiplies matrices of one format and checks the product. In each matrix, some rows
// contain only zeros and one edge value: NaN, an infinity, the largest or smallest number, or a
// zero.
func multiplied[E, D runtime.Element](t *kerneltest.T, k *runtime.Kernel, blocks int,
	g kerneltest.GEMM,
	in kerneltest.Format[E], out kerneltest.Format[D], tolerance kerneltest.Tolerance,
) error {
	matrix := func(rows, side int) kerneltest.Matrix {
		xs := kerneltest.Random(t, in, rows*g.K)
		for i, edge := range in.Edges() {
			if row := 3 + 2*i; row < rows {
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
	return kerneltest.Multiply(t, k, runtime.Grid(blocks), matrix(g.M, 0), matrix(g.N, 1), out,
		tolerance, nil)
}
