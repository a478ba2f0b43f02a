// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	sparse "github.com/ptxdsl/ptxdsl/examples/14_matmul_sparse"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Sparse is a matrix with 2:4 structured sparsity in device memory: of every four adjacent
// elements of a row, at most two are not zero. Of every two adjacent elements of float32, at most
// one is not zero.
type Sparse[E runtime.Element] struct {
	Rows, Cols int

	padded  int // number of columns including padding
	kept    *runtime.Buffer[E]
	indices *runtime.Buffer[byte]
}

// sparseType returns the type of the operands of a sparse product, or 0 if no kernel has it.
func sparseType[E runtime.Element]() isa.Type {
	switch any(*new(E)).(type) {
	case float32:
		return isa.Tf32
	case int8:
		return isa.S8
	case uint8:
		return isa.U8
	}
	return typeOf[E]()
}

// Compress copies a row-major matrix with structured sparsity to the device. Elements are of
// runtime.F16, runtime.BF16, float32 (of which products use the 19 bits of TF32), int8 or uint8.
func Compress[E runtime.Element](l *Library, values []E, rows, cols int) (*Sparse[E], error) {
	t := sparseType[E]()
	switch {
	case t == 0:
		return nil, errors.New(
			"calls: Compress: elements of this type are not supported, expected 8 or 16 bits or float32")
	case rows < 1 || cols < 1 || len(values) != rows*cols:
		return nil, fmt.Errorf("calls: Compress of %d values, expected %d rows of %d", len(values),
			rows,
			cols)
	}
	depth := sparse.Depth(t)
	x := &Sparse[E]{Rows: rows, Cols: cols, padded: (cols + depth - 1) / depth * depth}
	wide := make([]E, rows*x.padded)
	group, most := 4, 2
	if t == isa.Tf32 {
		group, most = 2, 1
	}
	for row := range rows {
		line := wide[row*x.padded:][:x.padded]
		copy(line, values[row*cols:][:cols])
		for i := 0; i < cols; i += group {
			n := 0
			for _, v := range line[i : i+group] {
				if v != 0 {
					n++
				}
			}
			if n > most {
				return nil, fmt.Errorf(
					"calls: Compress: row %d has %d elements that are not zero from column %d on, expected at most %d of %d",
					row, n, i, most, group)
			}
		}
	}
	kept, indices := compress(wide)
	var e1, e2 error
	x.kept, e1 = runtime.Upload(l.device, kept)
	x.indices, e2 = runtime.Upload(l.device, indices)
	return x, errors.Join(e1, e2)
}

// compress returns the elements that are stored, and their indices.
func compress[E runtime.Element](values []E) (kept []E, indices []byte) {
	if singles, ok := any(values).([]float32); ok {
		some, indices := sparse.CompressSingles(singles)
		return any(some).([]E), indices
	}
	return sparse.Compress(values)
}

// Close frees the memory of the matrix.
func (x *Sparse[E]) Close() error { return errors.Join(x.kept.Close(), x.indices.Close()) }

// MultiplySparse computes D = A B' for a sparse matrix A, a matrix B with n rows of as many
// elements as those of A, and D of int32 for 8-bit elements, or else of float32.
func MultiplySparse[D, E runtime.Element](l *Library, d *runtime.Buffer[D], a *Sparse[E],
	b *runtime.Buffer[E], n int) error {
	if a == nil {
		return errors.New("calls: MultiplySparse: A is nil, expected a matrix from Compress")
	}
	t := sparseType[E]()
	shape := sparse.Shape(t)
	err := errors.Join(holds("D", d, a.Rows*n), holds("B", b, n*a.Cols))
	switch any(*new(D)).(type) {
	case float32:
		if shape.C != isa.F32 {
			err = errors.New("a result of float32, expected int32 for these elements")
		}
	case int32:
		if shape.C != isa.S32 {
			err = errors.New("a result of int32, expected float32 for these elements")
		}
	default:
		err = errors.New("results of this type are not supported, expected float32 or int32")
	}
	if n < 1 {
		err = fmt.Errorf("%d rows of B, expected at least one", n)
	}
	if err != nil {
		return fmt.Errorf("calls: MultiplySparse: %w", err)
	}
	wide := (n + 1) / 2 * 2 // the kernel stores pairs of columns
	from, to := b, d
	var e1, e2 error
	if a.padded != a.Cols || wide != n {
		if from, e1 = runtime.Alloc[E](l.device, wide*a.padded); e1 == nil {
			e1 = resize(l, from, b, a.padded, a.Cols)
		}
	}
	if wide != n {
		to, e2 = runtime.Alloc[D](l.device, a.Rows*wide)
	}
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	options := sparse.Options{MMA: shape, Tiling: sparse.Default}
	x, y, err := options.Tiling.Blocks(t, a.Rows, wide, a.padded)
	if err != nil {
		return fmt.Errorf("calls: MultiplySparse: %w", err)
	}
	name := "sparse_" + t.String()[1:]
	err = l.run(plan{name, name, func(m *dsl.Module) { sparse.BuildWith(m, options) },
		runtime.Grid(x, y)}, map[string]any{"a": a.kept, "e": a.indices, "b": from, "d": to,
		"m": uint32(a.Rows), "n": uint32(wide), "k": uint32(a.padded)})
	if err == nil && to != d {
		err = resize(l, d, to, n, wide)
	}
	err = errors.Join(err, l.device.Sync())
	if from != b {
		err = errors.Join(err, from.Close())
	}
	if to != d {
		err = errors.Join(err, to.Close())
	}
	return err
}
