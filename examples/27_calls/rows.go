// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// maxColumns is the length of the longest supported row: a cluster of eight blocks computes 64
// elements per thread.
const maxColumns = 8 * 1024 * 64

// errTypes reports a type of elements that no kernel has.
var errTypes = errors.New(
	"elements of this type are not supported, expected float32, runtime.F16 or runtime.BF16")

// RMSNorm computes Y = X / sqrt(mean(X*X) + eps) * W for each row of X, of float32, runtime.F16 or
// runtime.BF16.
func RMSNorm[E runtime.Element](l *Library, y, x, w *runtime.Buffer[E], rows, cols int,
	eps float32) error {
	r := rmsnorm.RowKernel{Kind: rmsnorm.Normalize, Type: typeOf[E](), Cols: cols}
	p, err := l.rows(r, rows)
	if err = errors.Join(err, holds("W", w, cols), fits(y, x, rows, cols)); err != nil {
		return fmt.Errorf("calls: RMSNorm: %w", err)
	}
	return l.run(p, map[string]any{"x": x, "w": w, "y": y, "eps": eps, "rows": uint32(rows)})
}

// AddRMSNorm adds X to the residual, which it overwrites with the sum, and computes the RMSNorm of
// the sum.
func AddRMSNorm[E runtime.Element](l *Library, y, residual, x, w *runtime.Buffer[E], rows, cols int,
	eps float32) error {
	p, err := l.rows(rmsnorm.RowKernel{Kind: rmsnorm.Normalize, Type: typeOf[E](), Cols: cols,
		Residual: true}, rows)
	if err = errors.Join(err, holds("W", w, cols), holds("residual", residual, rows*cols),
		fits(y, x, rows, cols)); err != nil {
		return fmt.Errorf("calls: AddRMSNorm: %w", err)
	}
	return l.run(p,
		map[string]any{"x": x, "residual": residual, "w": w, "y": y, "eps": eps})
}

// LayerNorm computes Y = (X - mean(X)) / sqrt(variance(X) + eps) * W + B for each row of X.
func LayerNorm[E runtime.Element](l *Library, y, x, w, b *runtime.Buffer[E], rows, cols int,
	eps float32) error {
	p, err := l.rows(rmsnorm.RowKernel{Kind: rmsnorm.LayerNorm, Type: typeOf[E](), Cols: cols},
		rows)
	if err = errors.Join(err, holds("W", w, cols), holds("B", b, cols),
		fits(y, x, rows, cols)); err != nil {
		return fmt.Errorf("calls: LayerNorm: %w", err)
	}
	return l.run(p, map[string]any{"x": x, "w": w, "b": b, "y": y, "eps": eps})
}

// Softmax computes Y = exp(X) / sum(exp(X)) for each row of X.
func Softmax[E runtime.Element](l *Library, y, x *runtime.Buffer[E], rows, cols int) error {
	p, err := l.rows(rmsnorm.RowKernel{Kind: rmsnorm.Softmax, Type: typeOf[E](), Cols: cols}, rows)
	if err = errors.Join(err, fits(y, x, rows, cols)); err != nil {
		return fmt.Errorf("calls: Softmax: %w", err)
	}
	return l.run(p, map[string]any{"x": x, "y": y})
}

// CrossEntropy computes two numbers for each row of X: the logarithm of the sum of exponentials,
// and the loss, which is this logarithm minus the element in the target column.
func CrossEntropy[E runtime.Element](
	l *Library, losses, sums *runtime.Buffer[float32], x *runtime.Buffer[E],
	targets *runtime.Buffer[uint32], rows, cols int,
) error {
	p, err := l.rows(rmsnorm.RowKernel{Kind: rmsnorm.CrossEntropy, Type: typeOf[E](), Cols: cols},
		rows)
	err = errors.Join(err, holds("X", x, rows*cols), holds("targets", targets, rows),
		holds("losses", losses, rows), holds("sums", sums, rows))
	if err != nil {
		return fmt.Errorf("calls: CrossEntropy: %w", err)
	}
	return l.run(p, map[string]any{"x": x, "targets": targets, "losses": losses, "sums": sums})
}

// CrossEntropyGradient computes the derivative of the losses, multiplied by a scale factor for each
// row, from the sums of CrossEntropy.
func CrossEntropyGradient[E runtime.Element](
	l *Library, y, x *runtime.Buffer[E], sums, scale *runtime.Buffer[float32],
	targets *runtime.Buffer[uint32], rows, cols int,
) error {
	p, err := l.rows(rmsnorm.RowKernel{Kind: rmsnorm.Gradient, Type: typeOf[E](), Cols: cols},
		rows)
	err = errors.Join(err, fits(y, x, rows, cols), holds("targets", targets, rows),
		holds("sums", sums, rows), holds("scale", scale, rows))
	if err != nil {
		return fmt.Errorf("calls: CrossEntropyGradient: %w", err)
	}
	return l.run(p,
		map[string]any{"x": x, "targets": targets, "sums": sums, "scale": scale, "y": y})
}

// fits returns an error if a matrix is too small.
func fits[E runtime.Element](y, x *runtime.Buffer[E], rows, cols int) error {
	return errors.Join(holds("X", x, rows*cols), holds("Y", y, rows*cols))
}

// rows returns the plan for a row function. RMSNorm uses the kernel that computes several short
// rows per block, if it supports the row length. Otherwise one block or one cluster computes each
// row.
func (l *Library) rows(r rmsnorm.RowKernel, rows int) (plan, error) {
	switch {
	case r.Type == 0:
		return plan{}, errTypes
	case rows < 1 || r.Cols < 1 || r.Cols > maxColumns:
		return plan{},
			fmt.Errorf("%d rows of %d elements, expected up to %d", rows, r.Cols, maxColumns)
	}
	key := fmt.Sprintf("%s%s of %d, residual %t", r.Kind, r.Type, r.Cols, r.Residual)
	each, threads := rmsnorm.Rows(r.Cols)
	if unit := threads / each * 128 / r.Type.Bits(); r.Kind == rmsnorm.Normalize &&
		!r.Residual && r.Cols%unit == 0 && r.Cols <= 32768 {
		return plan{
			name: fmt.Sprintf("rmsnorm_%s_%d", r.Type.String()[1:], r.Cols), key: key,
			build:  func(m *dsl.Module) { rmsnorm.Build(m, r.Type, r.Cols) },
			config: runtime.Grid((rows + each - 1) / each),
		}, nil
	}
	_, blocks := r.Threads()
	if blocks > 1 && l.device.Info().Capability < 90 {
		return plan{},
			fmt.Errorf("rows of %d elements need clusters, which start with sm_90", r.Cols)
	}
	return plan{
		name: string(r.Kind), key: key, build: func(m *dsl.Module) { rmsnorm.BuildRow(m, r) },
		config: runtime.Grid(rows * blocks),
	}, nil
}

// isHalf reports whether a type is a 16-bit floating-point type.
func isHalf(t isa.Type) bool { return t == isa.F16 || t == isa.Bf16 }
