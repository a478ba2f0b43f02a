// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Product is a matrix product D = A * B', with A of m x k and B of n x k, both by rows.
type Product struct{ M, N, K int }

// Work is the multiplications of p, of which a device does a few dozen in the time of an element of a vector.
func (p Product) Work() int { return p.M * p.N * p.K / 32 }

// String is the size.
func (p Product) String() string { return fmt.Sprintf("%dx%dx%d", p.M, p.N, p.K) }

// Deep is the product with its sums so long that their length is a multiple of n.
func (p Product) Deep(n int) Product {
	p.K = (p.K + n - 1) / n * n
	return p
}

// Holds compares random elements of a product, and its corners, with sums in double precision. The tolerance is for numbers in [-1, 1]: it is
// taken times the root of the length of a sum, which such sums grow with, or times the sum where that is more, since what is rounded to few bits
// is as far off as it is large.
func (t *T) Holds(p Product, at func(row, col int) float64, a, b func(row, k int) float64, tolerance float64) error {
	const most = 4000
	as, bs := keptRows{worth: a, depth: p.K, list: make([][]float64, p.M)}, keptRows{worth: b, depth: p.K, list: make([][]float64, p.N)}
	check := func(row, col int) error {
		var sum float64
		x, y := as.row(row), bs.row(col)
		for k := range p.K {
			sum += x[k] * y[k]
		}
		got, scale := at(row, col), max(math.Sqrt(float64(p.K)), math.Abs(sum))
		t.Worst = max(t.Worst, math.Abs(got-sum)/scale)
		if !(math.Abs(got-sum) <= tolerance*scale) {
			return fmt.Errorf("%s: element %d, %d is %v, not %v", p, row, col, got, sum)
		}
		return nil
	}
	for _, row := range []int{0, p.M - 1} {
		for _, col := range []int{0, p.N - 1} {
			if err := check(row, col); err != nil {
				return err
			}
		}
	}
	for range min(most, p.M*p.N) {
		if err := check(t.Rand.IntN(p.M), t.Rand.IntN(p.N)); err != nil {
			return err
		}
	}
	return nil
}

// keptRows is what the rows of a matrix are worth, each worked out when it is asked for first, as far as they fit into some memory.
type keptRows struct {
	worth func(row, k int) float64
	depth int
	list  [][]float64
	kept  int
}

func (r *keptRows) row(i int) []float64 {
	if r.list[i] != nil {
		return r.list[i]
	}
	row := make([]float64, r.depth)
	for k := range row {
		row[k] = r.worth(i, k)
	}
	const most = 1 << 24 // numbers
	if r.kept += r.depth; r.kept <= most {
		r.list[i] = row
	}
	return row
}

// A Matrix is numbers by rows: their elements, as a device is given them, and what each number is worth.
type Matrix struct {
	Rows, Cols int
	Kept       int // columns of what is stored, where zeros are left out; else 0
	worth      func(row, col int) float64
	upload     func(*runtime.Device) (buffer, error)
}

// stored is the columns that there are elements for.
func (m Matrix) stored() int {
	if m.Kept > 0 {
		return m.Kept
	}
	return m.Cols
}

// Bytes is a matrix of bytes that are worth nothing: a parameter of a product beside its two matrices.
func Bytes(rows, cols int, bytes []byte) Matrix { return MatrixOf(rows, cols, bytes, nil) }

// A buffer is a Buffer of elements of any type.
type buffer interface {
	runtime.Matrix
	Len() int
	Close() error
}

// MatrixOf is a matrix of elements that are worth something each. Of matrices that leave zeros out there are fewer elements than numbers.
func MatrixOf[E runtime.Element](rows, cols int, elements []E, worth func(row, col int) float64) Matrix {
	return Matrix{rows, cols, 0, worth, func(d *runtime.Device) (buffer, error) { return runtime.Upload(d, elements) }}
}

// A Kind is a type of numbers on a device: what is near to a random number in [-1, 1], and what that is worth.
type Kind[E runtime.Element] struct {
	Near  func(float32) E
	Worth func(E) float64
}

// Kinds of numbers.
var (
	Half    = Kind[runtime.F16]{runtime.ToF16, func(x runtime.F16) float64 { return float64(x.Float32()) }}
	Brain   = Kind[runtime.BF16]{runtime.ToBF16, func(x runtime.BF16) float64 { return float64(x.Float32()) }}
	Single  = Kind[float32]{func(x float32) float32 { return x }, func(x float32) float64 { return float64(x) }}
	Double  = Kind[float64]{func(x float32) float64 { return float64(x) }, func(x float64) float64 { return x }}
	Byte    = Kind[uint8]{func(x float32) uint8 { return uint8(127 + 127*x) }, func(x uint8) float64 { return float64(x) }}
	Signed  = Kind[int8]{func(x float32) int8 { return int8(127 * x) }, func(x int8) float64 { return float64(x) }}
	Integer = Kind[int32]{func(x float32) int32 { return int32(x * (1 << 24)) }, func(x int32) float64 { return float64(x) }}
	// TF32 has the ten bits of mantissa that the tensor cores read.
	TF32 = Kind[float32]{func(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1<<13 - 1)) }, Single.Worth}
	// E4M3 are powers of two from 1/8 to 1, and zero.
	E4M3 = Kind[uint8]{toE4M3, fromE4M3}
)

func toE4M3(x float32) uint8 {
	if x == 0 {
		return 0
	}
	exponent := uint8(7) // of 1
	for a := math.Abs(float64(x)); a < 0.7 && exponent > 4; a *= 2 {
		exponent--
	}
	return uint8(math.Float32bits(x)>>31)<<7 | exponent<<3
}

func fromE4M3(x uint8) float64 {
	if x == 0 {
		return 0
	}
	return (1 - 2*float64(x>>7)) * Power(int(x>>3&15)-7)
}

// Power is 2 to an exponent from -1022 to 1023. References ask for it with each number of a matrix, and math.Ldexp takes several times as long.
func Power(exponent int) float64 { return math.Float64frombits(uint64(exponent+1023) << 52) }

// Elements are n random numbers of a kind.
func Elements[E runtime.Element](t *T, n int, k Kind[E]) []E {
	xs := make([]E, n)
	for i, x := range t.Floats(n) {
		xs[i] = k.Near(x)
	}
	return xs
}

// Random is a matrix of random numbers of a kind.
func Random[E runtime.Element](t *T, rows, cols int, k Kind[E]) Matrix {
	xs := Elements(t, rows*cols, k)
	return MatrixOf(rows, cols, xs, func(row, col int) float64 { return k.Worth(xs[row*cols+col]) })
}

// RandomBits is a matrix of random integers of so many bits, fewer than eight, the first of a byte in its lowest bits. Worth is what
// the integer in the lowest bits is.
func RandomBits(t *T, rows, cols, bits int, worth func(x uint8) int) Matrix {
	xs := make([]uint8, rows*cols*bits/8)
	for i, x := range t.Integers(len(xs)) {
		xs[i] = uint8(x)
	}
	return MatrixOf(rows, cols, xs, func(row, col int) float64 {
		at := (row*cols + col) * bits
		return float64(worth(xs[at/8] >> (at % 8) & (1<<bits - 1)))
	})
}

// Products has a kernel multiply random bfloat16 matrices of several sizes, on a grid for each.
func Products[C runtime.Element](t *T, k *runtime.Kernel, grid func(Product) runtime.Config, result Kind[C], tolerance float64, list ...Product) error {
	for _, p := range list {
		if err := Multiply(t, k, grid(p), Random(t, p.M, p.K, Brain), Random(t, p.N, p.K, Brain), result, tolerance, nil); err != nil {
			return err
		}
	}
	return nil
}

// behind is how many elements behind a result are looked at: a kernel must not write there.
const behind = 4096

// Multiply launches a kernel that makes D = A * B', and holds D. The kernel's parameters are told by their names: a, b and d are the matrices, or
// tensor maps of them, m, n and k their sizes, and others are matrices that more has.
func Multiply[C runtime.Element](t *T, k *runtime.Kernel, grid runtime.Config, a, b Matrix, result Kind[C], tolerance float64, more map[string]Matrix) (err error) {
	p := Product{M: a.Rows, N: b.Rows, K: a.Cols}
	given := make(map[string]buffer)
	defer func() {
		for _, b := range given {
			err = errors.Join(err, b.Close())
		}
	}()
	keep := func(name string, b buffer, err error) error {
		if err == nil {
			given[name] = b
		}
		return err
	}
	matrices := map[string]Matrix{"a": a, "b": b}
	maps.Copy(matrices, more)
	for name, m := range matrices {
		up, err := m.upload(t.Device)
		if err := keep(name, up, err); err != nil {
			return err
		}
	}
	d, err := runtime.Upload(t.Device, make([]C, p.M*p.N+behind))
	if err := keep("d", d, err); err != nil {
		return err
	}
	matrices["d"] = Matrix{Rows: p.M, Cols: p.N}
	sizes := map[string]int{"m": p.M, "n": p.N, "k": p.K}
	args := make([]any, 0, 8)
	for _, param := range k.Params() {
		name := param.Name
		size, sized := sizes[name]
		switch b, ok := given[name]; {
		case sized:
			args = append(args, size)
		case !ok:
			return fmt.Errorf("%s has a parameter %s, of which nothing is known here", k.Name(), name)
		case param.Box != nil:
			m, err := k.TensorMap(name, b, matrices[name].Rows, matrices[name].stored())
			if err != nil {
				return err
			}
			args = append(args, m)
		default:
			args = append(args, b)
		}
	}
	if err := k.Launch(grid, args...); err != nil {
		return err
	}
	ds, err := runtime.Download(d)
	if err != nil {
		return err
	}
	var zero C
	for i, x := range ds[p.M*p.N:] {
		if x != zero {
			return fmt.Errorf("%s: element %d behind the end of the result is written", p, i)
		}
	}
	return t.Holds(p, func(row, col int) float64 { return result.Worth(ds[row*p.N+col]) }, a.worth, b.worth, tolerance)
}
