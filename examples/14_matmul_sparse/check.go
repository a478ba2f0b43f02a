// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package sparse

import (
	"errors"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Compress returns the two nonzero elements of each group of four, and their indices in the
// group. Each index has two bits, and the first index is in the lowest bits. At most two elements
// of a group may be nonzero; if fewer are nonzero, Compress also returns zeros.
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
		switch { // add the indices of zeros, in increasing order
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

// CompressSingles is Compress for 32-bit elements: it returns one of every two elements. The
// indices refer to groups of four 16-bit halves.
func CompressSingles(xs []float32) (kept []float32, indices []byte) {
	kept = make([]float32, 0, len(xs)/2)
	indices = make([]byte, len(xs)/4)
	for i := 0; i < len(xs); i += 2 {
		at, halves := 0, byte(0b0100) // halves 0 and 1
		if xs[i] == 0 {
			at, halves = 1, 0b1110
		}
		kept = append(kept, xs[i+at])
		indices[i/4] |= halves << (i % 4 * 2)
	}
	return kept, indices
}

// Targets are the PTX targets for which the kernel is built and tested. E4M3 needs sm_89.
var Targets = []string{"sm_80", "sm_90"}

// Tolerances. The products are exact. The tensor cores of sm_80 multiply 16 elements of 16 bits
// or 8 elements of TF32 at a time, half of which are zero, and truncate the sum to F32.
var (
	sum16 = kerneltest.Abs(0x1p-25).TruncatedEvery(16)
	sum32 = kerneltest.Abs(0x1p-25).TruncatedEvery(8)
	exact = kerneltest.Tolerance{}
)

// Check multiplies matrices of every type in several shapes, some of which are not multiples of
// the tile, and compares the products with a host reference.
func Check(t *kerneltest.T) error {
	for _, g := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
		kerneltest.GEMM{M: 1, N: 2, K: 512}, kerneltest.GEMM{M: 33, N: 70, K: 512},
		kerneltest.GEMM{M: 128, N: 128, K: 512},
		kerneltest.GEMM{M: 384, N: 128, K: 1024}, kerneltest.GEMM{M: 333, N: 190, K: 1536},
		kerneltest.GEMM{M: 640, N: 896, K: 4096},
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

// checkOf runs the kernel of Build for one type, and compares the product with a host reference.
func checkOf(t *kerneltest.T, typ isa.Type, g kerneltest.GEMM) error {
	x := trial{Options: Options{Shape(typ), Default}}
	switch typ {
	case isa.F16, isa.Bf16:
		x.tolerance = sum16
	case isa.Tf32:
		x.tolerance = sum32
	}
	return x.check(t, g)
}

// A trial is a launch with options, and the tolerance of its results.
type trial struct {
	Options
	tolerance kerneltest.Tolerance
	edges     edges
}

// edges specifies which matrix has edge values, besides random ones.
type edges int

const (
	// A, but not with sums of F16, whose errors are relative to the largest sum
	normal  edges = iota
	inA           // A; a sum of F16 is then rounded to half a unit
	partner       // B: elements of A that are not stored must not be multiplied by them
)

// check multiplies matrices of the type.
func (x trial) check(t *kerneltest.T, g kerneltest.GEMM) error {
	switch x.MMA.A {
	case isa.F16:
		if x.MMA.C == isa.F16 {
			return check(t, x, g, kerneltest.F16, kerneltest.F16, Compress)
		}
		return check(t, x, g, kerneltest.F16, kerneltest.F32, Compress)
	case isa.Bf16:
		return check(t, x, g, kerneltest.BF16, kerneltest.F32, Compress)
	case isa.Tf32:
		return check(t, x, g, kerneltest.TF32, kerneltest.F32, CompressSingles)
	case isa.S8:
		return check(t, x, g, kerneltest.S8, kerneltest.S32, Compress)
	case isa.U8:
		return check(t, x, g, kerneltest.U8, kerneltest.S32, Compress)
	case isa.S4, isa.U4:
		return checkPairs(t, x, g)
	case isa.E4m3, isa.E5m2:
		return check(t, x, g, kerneltest.Narrow(x.MMA.A), kerneltest.F32, Compress)
	}
	return fmt.Errorf("no check for %s", x.MMA.A)
}

// check multiplies random matrices, with half of the elements of each row of A set to zero. Rows of
// A or of B with edge values are part of them.
func check[E interface {
	comparable
	runtime.Element
}, C runtime.Element](
	t *kerneltest.T, x trial, g kerneltest.GEMM, in kerneltest.Format[E], out kerneltest.Format[C],
	compress func([]E) ([]E, []byte),
) error {
	elements := kerneltest.Random(t, in, g.M*g.K)
	drop(t, elements, 64/max(16, x.MMA.A.Bits()))
	if x.edges == partner {
		return checkPartner(t, x, g, in, out, elements, compress)
	}
	if x.MMA.C != isa.F16 || x.edges == inA {
		kerneltest.EdgeRows(t, in, g.M, g.K, 0, func(row, col int) *E {
			return &elements[row*g.K+col]
		})
	}
	kept, indices := compress(elements)
	a := kerneltest.MatrixOf(g.M, g.K, kept, func(row, col int) float64 {
		return in.Float(elements[row*g.K+col])
	})
	return multiply(t, x, a, kerneltest.RandomMatrix(t, g.N, g.K, in), out, indices)
}

// checkPartner multiplies A by a B some of whose rows have one edge value and zeros.
func checkPartner[E interface {
	comparable
	runtime.Element
}, C runtime.Element](
	t *kerneltest.T, x trial, g kerneltest.GEMM, in kerneltest.Format[E], out kerneltest.Format[C],
	elements []E, compress func([]E) ([]E, []byte),
) error {
	b, d := kerneltest.Random(t, in, g.N*g.K), make([]C, g.M*g.N)
	kerneltest.EdgeRows(t, in, g.N, g.K, 0, func(row, col int) *E { return &b[row*g.K+col] })
	wide, high, err := x.Tiling.Blocks(x.MMA.A, g.M, g.N, g.K)
	if err != nil {
		return err
	}
	k, err := t.Kernel("sparse"+name(x.MMA.A), func(m *dsl.Module) { BuildWith(m, x.Options) })
	if err != nil {
		return err
	}
	kept, indices := compress(elements)
	err = t.Launch(k, runtime.Grid(wide, high), kerneltest.In(kept), kerneltest.In(indices),
		kerneltest.In(b), kerneltest.Out(d), g.M, g.N, g.K)
	if err != nil {
		return err
	}
	var zero E
	want := make([]float64, g.M*g.N)
	for i := range want {
		for j, a := range elements[i/g.N*g.K:][:g.K] {
			if a != zero { // it is stored
				want[i] += in.Float(a) * in.Float(b[i%g.N*g.K+j])
			}
		}
	}
	return kerneltest.Compare(t, fmt.Sprintf("%s with edge values in B, %s", k.Name(), g),
		out.Decode(d), want, x.tolerance.Sum(g.K))
}

// checkClamped multiplies the smallest elements of INT8 by the smallest and the largest ones, in
// sums that exceed 32 bits in both directions.
func (x trial) checkClamped(t *kerneltest.T) error {
	const m, n, depth = 3, 2, 1<<18 + 512
	elements, b := make([]int8, m*depth), make([]int8, n*depth)
	for i := range elements {
		elements[i] = math.MinInt8
	}
	drop(t, elements, 4)
	for i := range b {
		b[i] = math.MinInt8
		if i >= depth {
			b[i] = math.MaxInt8
		}
	}
	wide, high, err := x.Tiling.Blocks(isa.S8, m, n, depth)
	if err != nil {
		return err
	}
	k, err := t.Kernel("sparse_s8", func(m *dsl.Module) { BuildWith(m, x.Options) })
	if err != nil {
		return err
	}
	kept, indices := Compress(elements)
	d := make([]int32, m*n)
	err = t.Launch(k, runtime.Grid(wide, high), kerneltest.In(kept), kerneltest.In(indices),
		kerneltest.In(b), kerneltest.Out(d), m, n, depth)
	if err != nil {
		return err
	}
	var want []float64
	for row := range m {
		for col := range n {
			var sum float64
			for i := range depth {
				sum += float64(elements[row*depth+i]) * float64(b[col*depth+i])
			}
			want = append(want, max(math.MinInt32, min(math.MaxInt32, sum)))
		}
	}
	return kerneltest.Compare(t, fmt.Sprintf("sums beyond 32 bits, %dx%dx%d", m, n, depth),
		kerneltest.S32.Decode(d), want, exact)
}

// checkPairs runs the kernel on random matrices of INT4. Pairs of elements are kept or dropped
// together.
func checkPairs(t *kerneltest.T, x trial, g kerneltest.GEMM) error {
	value := func(x uint8) int { return int(int8(x<<4) >> 4) }
	if x.MMA.A == isa.U4 {
		value = func(x uint8) int { return int(x & 15) }
	}
	pairs := kerneltest.Random(t, kerneltest.U8, g.M*g.K/2)
	drop(t, pairs, 4)
	kept, indices := Compress(pairs)
	a := kerneltest.MatrixOf(g.M, g.K, kept, func(row, col int) float64 {
		at := row*g.K + col
		return float64(value(pairs[at/2] >> (at % 2 * 4)))
	})
	return multiply(t, x, a, kerneltest.RandomPacked(t, g.N, g.K, 4, value), kerneltest.S32,
		indices)
}

// drop sets half of the elements in each group of n elements to zero.
func drop[E runtime.Element](t *kerneltest.T, xs []E, n int) {
	for i := 0; i < len(xs); i += n {
		for _, at := range t.Rand.Perm(n)[:n/2] {
			xs[i+at] = 0
		}
	}
}

// multiply runs the kernel with the given nonzero elements of A and their indices, and compares
// the product with that of a and b.
func multiply[C runtime.Element](
	t *kerneltest.T, x trial, a, b kerneltest.Matrix, out kerneltest.Format[C], indices []byte,
) error {
	typ := x.MMA.A
	wide, high, err := x.Tiling.Blocks(typ, a.Rows, b.Rows, a.Cols)
	if err != nil {
		return err
	}
	k, err := t.Kernel("sparse"+name(typ), func(m *dsl.Module) { BuildWith(m, x.Options) })
	if err != nil {
		return err
	}
	more := map[string]kerneltest.Matrix{"e": kerneltest.MatrixOf(1, len(indices), indices, nil)}
	if err := kerneltest.Multiply(t, k, runtime.Grid(wide, high), a, b, out, x.tolerance,
		more); err != nil {
		return fmt.Errorf("%s: %w", typ, err)
	}
	return nil
}
