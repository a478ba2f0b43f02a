// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package topk

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_80", "sm_120"}

// Reference returns the columns of the count largest elements of a row, and the sampled column,
// computed on the CPU.
func Reference(x []float64, count int,
	temperature, topP, random float64) (columns []int, token int) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch u, v := x[a], x[b]; {
		case math.IsNaN(u) && math.IsNaN(v) || u == v:
			return 0
		case math.IsNaN(v) || u > v:
			return -1
		}
		return 1
	})
	columns = order[:count]
	weights, all := make([]float64, count), 0.0
	for i, col := range columns {
		weights[i] = math.Exp((x[col] - x[columns[0]]) / temperature)
		if x[col] == x[columns[0]] {
			weights[i] = 1
		}
		if math.IsNaN(weights[i]) {
			weights[i] = 0
		}
		all += weights[i]
	}
	kept, sum := 0.0, 0.0
	for _, w := range weights {
		if sum < topP*all {
			kept = sum + w
		}
		sum += w
	}
	sum = 0
	for i, w := range weights {
		if sum += w; sum > random*kept {
			return columns, columns[i]
		}
	}
	return columns, columns[count-1]
}

// Check runs the kernel for all types and several counts.
func Check(t *kerneltest.T) error {
	var errs []error
	for _, v := range Variants() {
		if err := v.Check(t); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", v.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Variants returns test configurations for each type and several counts.
func Variants() (list []kerneltest.Variant) {
	add := func(t isa.Type, count int) {
		list = append(list, kerneltest.Variant{
			Option: "top-k and sampling",
			Name:   fmt.Sprintf("%s, the %d largest", t.String()[1:], count), Targets: Targets,
			Build: func(m *dsl.Module) { Build(m, t, count) },
			Check: func(x *kerneltest.T) error { return checkType(x, t, count) },
			Why:   "elements are copied, and the random numbers are not near a limit between two tokens",
		})
	}
	add(isa.F32, 1)
	add(isa.F32, 50)
	add(isa.F16, 256)
	add(isa.Bf16, 50)
	return list
}

// checkType runs the kernel for one type, and compares the results with those of Reference. The
// rows contain random numbers; one row has edge values, and one has only a few different numbers.
func checkType(t *kerneltest.T, typ isa.Type, count int) error {
	var errs []error
	for _, cols := range t.Lengths(1001, max(count, 37), 5000, 128_256) {
		if cols < count {
			continue
		}
		switch typ {
		case isa.F16:
			errs = append(errs, check(t, typ, kerneltest.F16, count, cols))
		case isa.Bf16:
			errs = append(errs, check(t, typ, kerneltest.BF16, count, cols))
		default:
			errs = append(errs, check(t, typ, kerneltest.F32, count, cols))
		}
	}
	return errors.Join(errs...)
}

func check[E runtime.Element](t *kerneltest.T, typ isa.Type, f kerneltest.Format[E],
	count, cols int) error {
	const rows, temperature, topP = 5, 0.7, 0.9
	xs := kerneltest.Random(t, f.Within(-8, 8), rows*cols)
	copy(xs[cols:], kerneltest.RandomEdges(t, f, cols))
	for i := range cols { // equal elements
		xs[2*cols+i] = f.From(float64(t.Rand.IntN(4)))
		xs[3*cols+i] = f.From(-1)
	}
	random := make([]float32, rows)
	for i := range random {
		random[i] = t.Rand.Float32()
	}
	kernel, err := t.Kernel(Name(typ, count), func(m *dsl.Module) { Build(m, typ, count) })
	if err != nil {
		return err
	}
	values, indices, tokens := make([]float32, rows*count), make([]uint32, rows*count),
		make([]uint32, rows)
	err = t.Launch(kernel, runtime.Grid(rows), kerneltest.In(xs), kerneltest.Out(values),
		kerneltest.Out(indices), kerneltest.Out(tokens),
		kerneltest.In(random), cols, float32(temperature), float32(topP))
	if err != nil {
		return err
	}
	var wantValues, wantIndices, wantTokens []float64
	for row := range rows {
		x := f.Decode(xs[row*cols:][:cols])
		columns, token := Reference(x, count, float64(float32(temperature)), float64(float32(topP)),
			float64(random[row]))
		for _, col := range columns {
			wantValues, wantIndices = append(wantValues, x[col]), append(wantIndices, float64(col))
		}
		wantTokens = append(wantTokens, float64(token))
	}
	what := fmt.Sprintf("%s, %d of %d", f.Name, count, cols)
	return errors.Join(
		kerneltest.Compare(t, "columns, "+what, kerneltest.U32.Decode(indices), wantIndices,
			kerneltest.Tolerance{}),
		kerneltest.Compare(t, "values, "+what, values, wantValues, kerneltest.Tolerance{}),
		kerneltest.Compare(t, "tokens, "+what, kerneltest.U32.Decode(tokens), wantTokens,
			kerneltest.Tolerance{}),
	)
}
