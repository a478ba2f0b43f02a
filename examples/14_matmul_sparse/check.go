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

// CompressSingles is Compress for numbers of 32 bits, whose neighbours are their halves: it keeps one of each two numbers.
func CompressSingles(xs []float32) (kept []float32, places []byte) {
	kept = make([]float32, 0, len(xs)/2)
	places = make([]byte, len(xs)/4)
	for i := 0; i < len(xs); i += 2 {
		at, told := 0, byte(0b0100) // the halves 0 and 1
		if xs[i] == 0 {
			at, told = 1, 0b1110
		}
		kept = append(kept, xs[i+at])
		places[i/4] |= told << (i % 4 * 2)
	}
	return kept, places
}

// Check multiplies matrices of every type in several shapes, of which some end within a tile.
func Check(t *trial.T) error {
	for _, p := range []trial.Product{{M: 128, N: 128, K: 512}, {M: 384, N: 128, K: 1024}, {M: 640, N: 896, K: 4096}, {M: 1, N: 2, K: 512}, {M: 333, N: 190, K: 1536}} {
		err := errors.Join(
			check(t, isa.F16, p, trial.Half, trial.Single, Compress, 1e-5),
			check(t, isa.Bf16, p, trial.Brain, trial.Single, Compress, 1e-5),
			check(t, isa.Tf32, p, trial.TF32, trial.Single, CompressSingles, 1e-5),
			check(t, isa.S8, p, trial.Signed, trial.Integer, Compress, 0),
			check(t, isa.E4m3, p, trial.E4M3, trial.Single, Compress, 1e-2), // sums of eight-bit floats are not kept to the last bit
			checkPairs(t, p),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// check multiplies random matrices, after half of the numbers of each row of A have become zero.
func check[E interface {
	comparable
	runtime.Element
}, C runtime.Element](t *trial.T, e isa.Type, p trial.Product, kind trial.Kind[E], sums trial.Kind[C], compress func([]E) ([]E, []byte), tolerance float64) error {
	as := trial.Elements(t, p.M*p.K, kind)
	drop(t, as, 64/max(16, e.Bits()))
	kept, places := compress(as)
	a := trial.MatrixOf(p.M, p.K, kept, func(row, col int) float64 { return kind.Worth(as[row*p.K+col]) })
	return multiply(t, e, a, trial.Random(t, p.N, p.K, kind), sums, places, tolerance)
}

// checkPairs multiplies random matrices of INT4, of which pairs are kept or left out.
func checkPairs(t *trial.T, p trial.Product) error {
	worth := func(x uint8) int { return int(int8(x<<4) >> 4) }
	pairs := trial.Elements(t, p.M*p.K/2, trial.Byte)
	drop(t, pairs, 4)
	kept, places := Compress(pairs)
	a := trial.MatrixOf(p.M, p.K, kept, func(row, col int) float64 {
		at := row*p.K + col
		return float64(worth(pairs[at/2] >> (at % 2 * 4)))
	})
	return multiply(t, isa.S4, a, trial.RandomBits(t, p.N, p.K, 4, worth), trial.Integer, places, 0)
}

// drop makes half of each so many neighbours zero.
func drop[E runtime.Element](t *trial.T, xs []E, neighbours int) {
	for i := 0; i < len(xs); i += neighbours {
		for _, at := range t.Rand.Perm(neighbours)[:neighbours/2] {
			xs[i+at] = 0
		}
	}
}

// multiply runs the kernel of a type.
func multiply[C runtime.Element](t *trial.T, e isa.Type, a, b trial.Matrix, sums trial.Kind[C], places []byte, tolerance float64) error {
	x, y, err := Default.Blocks(e, a.Rows, b.Rows, a.Cols)
	if err != nil {
		return err
	}
	k, err := t.Kernel("sparse"+name(e), func(m *dsl.Module) { Build(m, e, Default) })
	if err != nil {
		return err
	}
	if err := trial.Multiply(t, k, runtime.Grid(x, y), a, b, sums, tolerance, map[string]trial.Matrix{"e": trial.Bytes(1, len(places), places)}); err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return nil
}
