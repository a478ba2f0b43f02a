// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Compress keeps two of each four neighbours of a matrix, those that are not zero, and tells their places: two bits for
// each, the first in the lowest. Of four with fewer than two it keeps zeros too. More than two that are not zero would be lost.
func Compress[E comparable](xs []E) (kept []E, places []byte) {
	var zero E
	kept = make([]E, 0, len(xs)/2)
	places = make([]byte, len(xs)/8)
	for i := 0; i < len(xs); i += 4 {
		var at []int
		for p := range 4 {
			if xs[i+p] != zero && len(at) < 2 {
				at = append(at, p)
			}
		}
		switch { // the places of a pair rise
		case len(at) == 0:
			at = []int{0, 1}
		case len(at) == 1 && at[0] == 0:
			at = []int{0, 1}
		case len(at) == 1:
			at = []int{at[0] - 1, at[0]}
		}
		kept = append(kept, xs[i+at[0]], xs[i+at[1]])
		places[i/8] |= byte(at[0]|at[1]<<2) << (i % 8)
	}
	return kept, places
}

// Check multiplies matrices of every type in several shapes.
func Check(t *trial.T) error {
	for _, steps := range [][3]int{{1, 1, 1}, {3, 1, 5}, {5, 7, 16}} {
		err := errors.Join(
			check(t, isa.F16, steps, trial.Half, trial.Single, 1e-5),
			check(t, isa.Bf16, steps, trial.Brain, trial.Single, 1e-5),
			check(t, isa.S8, steps, trial.Signed, trial.Integer, 0),
			check(t, isa.E4m3, steps, trial.E4M3, trial.Single, 1e-2), // sums of eight-bit floats are not kept to the last bit
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// check multiplies matrices of so many tiles, after two of each four numbers of a row of A have become zero.
func check[E interface {
	comparable
	runtime.Element
}, C runtime.Element](t *trial.T, e isa.Type, steps [3]int, kind trial.Kind[E], sums trial.Kind[C], tolerance float64) error {
	p := trial.Product{M: steps[0] * Default.M, N: steps[1] * Default.N, K: steps[2] * depth(e)}
	k, err := t.Kernel("sparse"+name(e), func(m *dsl.Module) { Build(m, e, Default) })
	if err != nil {
		return err
	}
	as := trial.Elements(t, p.M*p.K, kind)
	for i := 0; i < len(as); i += 4 {
		drop := t.Rand.Perm(4)
		as[i+drop[0]], as[i+drop[1]] = 0, 0
	}
	kept, places := Compress(as)
	a := trial.MatrixOf(p.M, p.K, kept, func(row, col int) float64 { return kind.Worth(as[row*p.K+col]) })
	b := trial.Random(t, p.N, p.K, kind)
	if err := trial.Multiply(t, k, runtime.Grid(steps[1], steps[0]), a, b, sums, tolerance, map[string][]byte{"e": places}); err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return nil
}
