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

// Check multiplies matrices of every type in several shapes.
func Check(t *trial.T) error {
	for _, steps := range [][3]int{{1, 1, 1}, {3, 1, 5}, {5, 7, 16}} {
		err := errors.Join(
			check(t, isa.F16, steps, trial.Half, trial.Single, 1e-5),
			check(t, isa.Bf16, steps, trial.Brain, trial.Single, 1e-5),
			check(t, isa.Tf32, steps, trial.TF32, trial.Single, 1e-5),
			check(t, isa.S8, steps, trial.Signed, trial.Integer, 0),
			check(t, isa.U8, steps, trial.Byte, trial.Integer, 0),
			check(t, isa.F64, steps, trial.Double, trial.Double, 1e-14),
			checkBits(t, isa.S4, steps, func(x uint8) int { return int(int8(x<<4) >> 4) }),
			checkBits(t, isa.U4, steps, func(x uint8) int { return int(x) }),
			checkBits(t, isa.B1, steps, func(x uint8) int { return int(x) }),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// check multiplies matrices of so many tiles.
func check[E, C runtime.Element](t *trial.T, e isa.Type, steps [3]int, kind trial.Kind[E], sums trial.Kind[C], tolerance float64) error {
	p := product(e, steps)
	return multiply(t, e, trial.Random(t, p.M, p.K, kind), trial.Random(t, p.N, p.K, kind), sums, tolerance)
}

// checkBits multiplies matrices of integers smaller than a byte.
func checkBits(t *trial.T, e isa.Type, steps [3]int, worth func(x uint8) int) error {
	p := product(e, steps)
	return multiply(t, e, trial.RandomBits(t, p.M, p.K, e.Bits(), worth), trial.RandomBits(t, p.N, p.K, e.Bits(), worth), trial.Integer, 0)
}

// product is the size of so many tiles.
func product(e isa.Type, steps [3]int) trial.Product {
	tiling := Default[e]
	return trial.Product{M: steps[0] * tiling.M, N: steps[1] * tiling.N, K: steps[2] * 128 * 8 / e.Bits()}
}

// multiply runs the kernel of a type.
func multiply[C runtime.Element](t *trial.T, e isa.Type, a, b trial.Matrix, sums trial.Kind[C], tolerance float64) error {
	tiling := Default[e]
	k, err := t.Kernel("matmul"+name(e), func(m *dsl.Module) { Build(m, e, tiling) })
	if err != nil {
		return err
	}
	if err := trial.Multiply(t, k, runtime.Grid(b.Rows/tiling.N, a.Rows/tiling.M), a, b, sums, tolerance, nil); err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return nil
}
