// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"
	"math"

	topk "github.com/ptxdsl/ptxdsl/examples/25_topk"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

func checkResidual(t *kerneltest.T, l *Library) error {
	const rows, cols = 7, 1001
	f := kerneltest.BF16
	xs, rs, ws := lines(t, f, rows, cols), kerneltest.Random(t, f, rows*cols),
		kerneltest.Random(t, f, cols)
	var err error
	x, residual, w, y := on(t, &err, xs), on(t, &err, rs), on(t, &err, ws), on(t, &err, xs)
	if err = errors.Join(err, AddRMSNorm(l, y, residual, x, w, rows, cols, eps)); err != nil {
		return err
	}
	var sums, want []float64
	for row := range rows {
		var squares float64
		for i := range cols {
			v := f.Float(xs[row*cols+i]) + f.Float(rs[row*cols+i])
			sums = append(sums, v)
			squares += v * v / cols
		}
		for i, v := range sums[row*cols:] {
			want = append(want, v/math.Sqrt(squares+eps)*f.Float(ws[i]))
		}
	}
	return errors.Join(
		compare(t, fmt.Sprintf("sums, %d rows of %d", rows, cols), f, residual, sums, f.ULPs(0.52)),
		compare(t, fmt.Sprintf("RMSNorm of sums, %d rows of %d", rows, cols), f, y, want,
			f.ULPs(0.52)))
}

func checkGradient(t *kerneltest.T, l *Library) error {
	const rows, cols = 6, 1001
	f := kerneltest.BF16
	xs, scale := lines(t, f, rows, cols), t.Float32s(rows)
	targets, sums := make([]uint32, rows), make([]float32, rows)
	var want []float64
	for row := range rows {
		targets[row] = uint32(t.Rand.IntN(cols))
		line := f.Decode(xs[row*cols:][:cols])
		sums[row] = float32(logSum(line))
		for i, v := range line {
			g := math.Exp(v - float64(sums[row]))
			if i == int(targets[row]) {
				g--
			}
			want = append(want, g*float64(scale[row]))
		}
	}
	var err error
	y := on(t, &err, xs)
	err = errors.Join(err, CrossEntropyGradient(l, y, on(t, &err, xs), on(t, &err, sums),
		on(t, &err, scale), on(t, &err, targets), rows, cols))
	if err != nil {
		return err
	}
	return compare(t, fmt.Sprintf("gradient, %d rows of %d", rows, cols), f, y, want, f.ULPs(0.52))
}

func checkTopK(t *kerneltest.T, l *Library) error {
	const rows, cols = 6, 1001
	s := Sampling{Count: 40, Temperature: 0.75, TopP: 0.9}
	xs, random := lines(t, kerneltest.F32, rows, cols), make([]float32, rows)
	for i := range random {
		random[i] = t.Rand.Float32()
	}
	var err error
	values := on(t, &err, make([]float32, rows*s.Count))
	columns, tokens := on(t, &err, make([]uint32, rows*s.Count)), on(t, &err, make([]uint32, rows))
	err = errors.Join(err,
		TopK(l, values, columns, tokens, on(t, &err, xs), on(t, &err, random), rows, cols, s))
	if err != nil {
		return err
	}
	var wantValues, wantColumns, wantTokens []float64
	for row := range rows {
		line := kerneltest.F32.Decode(xs[row*cols:][:cols])
		places, token := topk.Reference(line, s.Count, float64(s.Temperature),
			float64(float32(s.TopP)), float64(random[row]))
		for _, col := range places {
			wantValues, wantColumns = append(wantValues, line[col]),
				append(wantColumns, float64(col))
		}
		wantTokens = append(wantTokens, float64(token))
	}
	var exact kerneltest.Tolerance
	what := fmt.Sprintf(", %d of %d", s.Count, cols)
	return errors.Join(
		compare(t, "values"+what, kerneltest.F32, values, wantValues, exact),
		compare(t, "columns"+what, kerneltest.U32, columns, wantColumns, exact),
		compare(t, "tokens"+what, kerneltest.U32, tokens, wantTokens, exact))
}
