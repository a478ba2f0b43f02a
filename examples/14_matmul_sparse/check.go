// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Compress keeps two of each group of four elements, those that are not zero. It returns them with their
// indices in the group, two bits each, the first in the lowest bits. If fewer than two are not zero, it
// keeps zeros too. At most two may be nonzero.
func Compress[E comparable](xs []E) (kept []E, indices []byte) {
	var zero E
	kept = make([]E, 0, len(xs)/2)
	indices = make([]byte, len(xs)/8)
	for i := 0; i < len(xs); i += 4 {
		var at []int
		for p := range 4 {
			if xs[i+p] != zero && len(at) < 2 {
				at = append(at, p)
			}
		}
		switch { // the indices of a pair increase
		case len(at) == 0:
			at = []int{0, 1}
		case len(at) == 1 && at[0] == 0:
			at = []int{0, 1}
		case len(at) == 1:
			at = []int{at[0] - 1, at[0]}
		}
		kept = append(kept, xs[i+at[0]], xs[i+at[1]])
		indices[i/8] |= byte(at[0]|at[1]<<2) << (i % 8)
	}
	return kept, indices
}

// CompressSingles is Compress for 32-bit elements, whose groups consist of four halves: it keeps
// one of each two elements.
func CompressSingles(xs []float32) (kept []float32, indices []byte) {
	kept = make([]float32, 0, len(xs)/2)
	indices = make([]byte, len(xs)/4)
	for i := 0; i < len(xs); i += 2 {
		at, halves := 0, byte(0b0100) // the halves 0 and 1
		if xs[i] == 0 {
			at, halves = 1, 0b1110
		}
		kept = append(kept, xs[i+at])
		indices[i/4] |= halves << (i % 4 * 2)
	}
	return kept, indices
}

// Targets are the targets that the kernel is built for. E4M3 needs sm_89.
var Targets = []string{"sm_80", "sm_90"}

// Tolerances. The products are exact. The tensor cores of sm_80 multiply 16 elements of 16 bits, or
// 8 of TF32, of which half are zero, and truncate the sum in F32.
var (
	sum16 = kerneltest.Abs(0x1p-25).TruncatedEvery(16)
	sum32 = kerneltest.Abs(0x1p-25).TruncatedEvery(8)
	exact = kerneltest.Tolerance{}
)

// Check multiplies matrices of every type in several shapes, some of which are not multiples of the
// tile.
func Check(t *kerneltest.T) error {
	for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: 1, N: 2, K: 512}, kerneltest.GEMM{M: 33, N: 70, K: 512}, kerneltest.GEMM{M: 128, N: 128, K: 512},
		kerneltest.GEMM{M: 384, N: 128, K: 1024}, kerneltest.GEMM{M: 333, N: 190, K: 1536}, kerneltest.GEMM{M: 640, N: 896, K: 4096},
	) {
		var errs []error
		for _, typ := range Types {
			if typ != isa.E4m3 || t.Device.Info().Capability >= 89 {
				errs = append(errs, checkOf(t, typ, g))
			}
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// checkOf multiplies matrices of a type.
func checkOf(t *kerneltest.T, typ isa.Type, g kerneltest.GEMM) error {
	switch typ {
	case isa.F16:
		return check(t, typ, g, kerneltest.F16, kerneltest.F32, Compress, sum16)
	case isa.Bf16:
		return check(t, typ, g, kerneltest.BF16, kerneltest.F32, Compress, sum16)
	case isa.Tf32:
		return check(t, typ, g, kerneltest.TF32, kerneltest.F32, CompressSingles, sum32)
	case isa.S8:
		return check(t, typ, g, kerneltest.S8, kerneltest.S32, Compress, exact)
	case isa.S4:
		return checkPairs(t, g)
	case isa.E4m3:
		return check(t, typ, g, kerneltest.Narrow(typ), kerneltest.F32, Compress, exact)
	}
	return fmt.Errorf("no check for %s", typ)
}

// check multiplies random matrices, with half of the elements of each row of A set to zero.
func check[E interface {
	comparable
	runtime.Element
}, C runtime.Element](
	t *kerneltest.T, typ isa.Type, g kerneltest.GEMM, in kerneltest.Format[E], out kerneltest.Format[C],
	compress func([]E) ([]E, []byte), tolerance kerneltest.Tolerance,
) error {
	elements := kerneltest.Random(t, in, g.M*g.K)
	drop(t, elements, 64/max(16, typ.Bits()))
	kept, indices := compress(elements)
	a := kerneltest.MatrixOf(g.M, g.K, kept, func(row, col int) float64 { return in.Float(elements[row*g.K+col]) })
	return multiply(t, typ, a, kerneltest.RandomMatrix(t, g.N, g.K, in), out, indices, tolerance)
}

// checkPairs multiplies random matrices of INT4. Pairs of elements are kept or dropped together.
func checkPairs(t *kerneltest.T, g kerneltest.GEMM) error {
	value := func(x uint8) int { return int(int8(x<<4) >> 4) }
	pairs := kerneltest.Random(t, kerneltest.U8, g.M*g.K/2)
	drop(t, pairs, 4)
	kept, indices := Compress(pairs)
	a := kerneltest.MatrixOf(g.M, g.K, kept, func(row, col int) float64 {
		at := row*g.K + col
		return float64(value(pairs[at/2] >> (at % 2 * 4)))
	})
	return multiply(t, isa.S4, a, kerneltest.RandomPacked(t, g.N, g.K, 4, value), kerneltest.S32, indices, exact)
}

// drop sets half of the elements in each group of n to zero.
func drop[E runtime.Element](t *kerneltest.T, xs []E, n int) {
	for i := 0; i < len(xs); i += n {
		for _, at := range t.Rand.Perm(n)[:n/2] {
			xs[i+at] = 0
		}
	}
}

// multiply runs the kernel for a type.
func multiply[C runtime.Element](
	t *kerneltest.T, typ isa.Type, a, b kerneltest.Matrix, out kerneltest.Format[C], indices []byte, tolerance kerneltest.Tolerance,
) error {
	x, y, err := Default.Blocks(typ, a.Rows, b.Rows, a.Cols)
	if err != nil {
		return err
	}
	k, err := t.Kernel("sparse"+name(typ), func(m *dsl.Module) { Build(m, typ, Default) })
	if err != nil {
		return err
	}
	more := map[string]kerneltest.Matrix{"e": kerneltest.MatrixOf(1, len(indices), indices, nil)}
	if err := kerneltest.Multiply(t, k, runtime.Grid(x, y), a, b, out, tolerance, more); err != nil {
		return fmt.Errorf("%s: %w", typ, err)
	}
	return nil
}
