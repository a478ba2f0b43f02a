// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import (
	"fmt"
	"maps"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// A GEMM is the size of a matrix product D = A·Bᵀ, where A has M×K and B has N×K elements. Both
// are row-major.
type GEMM struct{ M, N, K int }

// Cost returns the cost of the product for Sizes. It is less than the number of multiplications,
// because matrix instructions compute a few dozen multiplications in the time of one vector
// element.
func (g GEMM) Cost() int { return g.M * g.N * g.K / 32 }

// String returns the size, such as 128x256x64.
func (g GEMM) String() string { return fmt.Sprintf("%dx%dx%d", g.M, g.N, g.K) }

// PadK returns g with K rounded up to a multiple of n.
func (g GEMM) PadK(n int) GEMM {
	g.K = (g.K + n - 1) / n * n
	return g
}

// sampleSize is the number of elements of a large product that CompareGEMM compares.
const sampleSize = 4000

// CompareGEMM compares a product with one computed in float64. It compares all elements of a small
// product, and of a large one the corners and a random sample. The functions return elements of D,
// A and B. Tolerance.Abs is multiplied by the square root of K.
func (t *T) CompareGEMM(g GEMM, d, a, b func(row, col int) float64, tolerance Tolerance) error {
	return t.compareGEMM(g.String(), g, d, a, b, tolerance)
}

func (t *T) compareGEMM(what string, g GEMM, d, a, b func(row, col int) float64,
	tolerance Tolerance) error {
	list := make([][2]int, 0, min(sampleSize+4, g.M*g.N))
	if g.M*g.N <= sampleSize {
		for row := range g.M {
			for col := range g.N {
				list = append(list, [2]int{row, col})
			}
		}
	} else {
		for _, row := range []int{0, g.M - 1} {
			list = append(list, [2]int{row, 0}, [2]int{row, g.N - 1})
		}
		for range sampleSize {
			list = append(list, [2]int{t.Rand.IntN(g.M), t.Rand.IntN(g.N)})
		}
	}
	as, bs := newRowCache(a, g.M, g.K), newRowCache(b, g.N, g.K)
	return t.compare(what, len(list), func(i int) (got, want float64) {
		row, col := list[i][0], list[i][1]
		x, y := as.row(row), bs.row(col)
		for k := range g.K {
			want += x[k] * y[k]
		}
		return d(row, col), want
	}, func(i int) string { return fmt.Sprint(list[i]) }, tolerance.Sum(g.K))
}

// A rowCache caches rows of a matrix as float64, up to a limit.
type rowCache struct {
	at    func(row, col int) float64
	cols  int
	rows  [][]float64
	space int
}

func newRowCache(at func(row, col int) float64, rows, cols int) *rowCache {
	return &rowCache{at, cols, make([][]float64, rows), 1 << 24}
}

func (c *rowCache) row(i int) []float64 {
	if c.rows[i] != nil {
		return c.rows[i]
	}
	row := make([]float64, c.cols)
	for col := range row {
		row[col] = c.at(i, col)
	}
	if c.space -= c.cols; c.space >= 0 {
		c.rows[i] = row
	}
	return row
}

// A Matrix holds the elements of a matrix as they are passed to a kernel, and their values for the
// reference.
type Matrix struct {
	Rows, Cols int
	// Stored is the number of columns of the stored matrix if it differs from Cols, as in a sparse
	// matrix.
	Stored int
	value  func(row, col int) float64
	in     *Array
}

// MatrixOf returns a matrix of elements. value returns the number at a row and column; it may
// depend on several elements, for example an element and a scale factor. value may be nil for
// arguments of Multiply other than A and B.
func MatrixOf[E runtime.Element](rows, cols int, elements []E,
	value func(row, col int) float64) Matrix {
	return Matrix{Rows: rows, Cols: cols, value: value, in: In(elements)}
}

// RandomMatrix returns a matrix of random elements.
func RandomMatrix[E runtime.Element](t *T, rows, cols int, f Format[E]) Matrix {
	xs := Random(t, f, rows*cols)
	return MatrixOf(rows, cols, xs, func(row, col int) float64 { return f.Float(xs[row*cols+col]) })
}

// EdgeMatrix returns a matrix of random elements with edge values; see EdgeRows.
func EdgeMatrix[E runtime.Element](t *T, rows, cols int, f Format[E], side int) Matrix {
	xs := Random(t, f, rows*cols)
	EdgeRows(t, f, rows, cols, side, func(row, col int) *E { return &xs[row*cols+col] })
	return MatrixOf(rows, cols, xs, func(row, col int) float64 { return f.Float(xs[row*cols+col]) })
}

// RandomPacked returns a matrix of random integers of 1, 2 or 4 bits that share bytes; the first
// integer is in the lowest bits. value returns the integer for a bit pattern.
func RandomPacked(t *T, rows, cols, bits int, value func(bits uint8) int) Matrix {
	xs := make([]uint8, rows*cols*bits/8)
	for i := range xs {
		xs[i] = uint8(t.Rand.Uint32())
	}
	return MatrixOf(rows, cols, xs, func(row, col int) float64 {
		at := (row*cols + col) * bits
		return float64(value(xs[at/8] >> (at % 8) & (1<<bits - 1)))
	})
}

// Multiply launches a kernel that computes D = A·Bᵀ, and compares D as CompareGEMM does. It passes
// arguments by parameter name: a, b and d are the matrices, or tensor maps of them; m, n and k are
// the sizes; all others are taken from more. D is zero before the launch.
func Multiply[E runtime.Element](t *T, k *runtime.Kernel, grid runtime.Config, a, b Matrix,
	f Format[E],
	tolerance Tolerance, more map[string]Matrix,
) error {
	g := GEMM{M: a.Rows, N: b.Rows, K: a.Cols}
	d := make([]E, g.M*g.N)
	matrices := map[string]Matrix{"a": a, "b": b}
	maps.Copy(matrices, more)
	known := map[string]any{
		"m": g.M, "n": g.N, "k": g.K, "d": InOut(d).Tensor(g.M, g.N),
	}
	for name, m := range matrices {
		cols := m.Cols
		if m.Stored > 0 {
			cols = m.Stored
		}
		known[name] = m.in.Tensor(m.Rows, cols)
	}
	var args []any
	for _, p := range k.Params() {
		arg, ok := known[p.Name]
		if !ok {
			return fmt.Errorf("%s has a parameter %s, but Multiply has no argument for it",
				k.Name(), p.Name)
		}
		args = append(args, arg)
	}
	if err := t.Launch(k, grid, args...); err != nil {
		return fmt.Errorf("%s, %s: %w", k.Name(), g, err)
	}
	return t.compareGEMM(fmt.Sprintf("%s, %s", k.Name(), g), g,
		func(row, col int) float64 { return f.Float(d[row*g.N+col]) }, a.value, b.value, tolerance)
}
