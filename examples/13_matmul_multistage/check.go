// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of every type in several shapes, of which some end within a tile.
func Check(t *trial.T) error {
	for _, p := range trial.Within(t, trial.Product.Work, []trial.Product{{M: 128, N: 128, K: 1024}, {M: 384, N: 128, K: 640}, {M: 640, N: 896, K: 2048}, {M: 1, N: 2, K: 16}, {M: 333, N: 190, K: 336}}...) {
		err := errors.Join(
			check(t, isa.F16, p, trial.Half, trial.Single, 1e-5),
			check(t, isa.Bf16, p, trial.Brain, trial.Single, 1e-5),
			check(t, isa.Tf32, p, trial.TF32, trial.Single, 1e-5),
			check(t, isa.F32, p, trial.Single, trial.Single, 3e-6),
			check(t, isa.S8, p, trial.Signed, trial.Integer, 0),
			check(t, isa.U8, p, trial.Byte, trial.Integer, 0),
			check(t, isa.F64, p, trial.Double, trial.Double, 1e-14),
			checkBits(t, isa.S4, p.Deep(32), func(x uint8) int { return int(int8(x<<4) >> 4) }),
			checkBits(t, isa.U4, p.Deep(32), func(x uint8) int { return int(x) }),
			checkBits(t, isa.B1, p.Deep(128), func(x uint8) int { return int(x) }),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// check multiplies random matrices.
func check[E, C runtime.Element](t *trial.T, e isa.Type, p trial.Product, kind trial.Kind[E], sums trial.Kind[C], tolerance float64) error {
	return multiply(t, e, trial.Random(t, p.M, p.K, kind), trial.Random(t, p.N, p.K, kind), sums, tolerance)
}

// checkBits multiplies random matrices of integers smaller than a byte.
func checkBits(t *trial.T, e isa.Type, p trial.Product, worth func(x uint8) int) error {
	return multiply(t, e, trial.RandomBits(t, p.M, p.K, e.Bits(), worth), trial.RandomBits(t, p.N, p.K, e.Bits(), worth), trial.Integer, 0)
}

// multiply runs the kernel of a type.
func multiply[C runtime.Element](t *trial.T, e isa.Type, a, b trial.Matrix, sums trial.Kind[C], tolerance float64) error {
	tiling := Default(e)
	blocks, err := tiling.Blocks(e, a.Rows, b.Rows, a.Cols)
	if err != nil {
		return err
	}
	k, err := t.Kernel("matmul"+name(e), func(m *dsl.Module) { Build(m, e, tiling) })
	if err != nil {
		return err
	}
	if err := trial.Multiply(t, k, runtime.Grid(blocks), a, b, sums, tolerance, nil); err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return nil
}
