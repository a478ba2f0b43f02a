// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// RowKernels returns the row kernels of example 08 in BF16, which accept rows of any length, by
// name.
func RowKernels() map[string]rmsnorm.RowKernel {
	return map[string]rmsnorm.RowKernel{
		"RMSNorm":       {Kind: rmsnorm.Normalize, Type: isa.Bf16},
		"LayerNorm":     {Kind: rmsnorm.LayerNorm, Type: isa.Bf16},
		"softmax":       {Kind: rmsnorm.Softmax, Type: isa.Bf16},
		"cross-entropy": {Kind: rmsnorm.CrossEntropy, Type: isa.Bf16},
		"quantize":      {Kind: rmsnorm.Normalize, Type: isa.Bf16, Output: isa.E4m3},
	}
}

// Lengths returns the row lengths to measure with RowFamily.
func Lengths() []int { return []int{2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144} }

// RowFamily measures a row kernel for rows of cols elements, and a copy of the same number of
// bytes. The number of elements is the same for all lengths.
func RowFamily(b *Bench, name string, cols int) ([]Result, error) {
	const elements = 1 << 28
	r := RowKernels()[name]
	r.Cols = cols
	rows := elements / cols
	t := &kerneltest.T{Device: b.Device}
	k, err := t.Kernel(string(r.Kind), func(m *dsl.Module) { rmsnorm.BuildRow(m, r) })
	if err != nil {
		return nil, err
	}
	w, _, e1 := numbers(b, cols, runtime.ToBF16)
	bias, _, e2 := numbers(b, cols, runtime.ToBF16)
	targets, e3 := runtime.Upload(b.Device, make([]uint32, rows))
	// A kernel writes some of the results per row, or none.
	floats, e4 := runtime.Upload(b.Device, make([]float32, rows))
	sums, e5 := runtime.Upload(b.Device, make([]float32, rows))
	if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
		return nil, err
	}
	j := Job{Group: "rows " + name, Name: fmt.Sprintf("%dx%d", rows, cols), Bytes: 4 * elements}
	switch {
	case r.Kind == rmsnorm.CrossEntropy:
		j.Bytes = 2 * elements // the kernel writes only one number per row
	case r.Output == isa.E4m3:
		j.Bytes = 3 * elements
	}
	_, blocks := r.Threads()
	grid := runtime.Grid(rows * blocks).On(b.Stream)
	known := map[string]any{"w": w, "b": bias, "eps": float32(1e-5), "targets": targets,
		"losses": floats, "sums": sums, "scales": floats}
	params := k.Params()
	results, err := rowJob(b, j, elements, runtime.ToBF16,
		func(x, y *runtime.Buffer[runtime.BF16]) error {
			args := make([]any, len(params))
			for i, p := range params {
				switch p.Name {
				case "x":
					args[i] = x.Address()
				case "y":
					args[i] = y.Address()
				default:
					args[i] = known[p.Name]
				}
			}
			return k.Launch(grid, args...)
		}, floats, sums)
	return results,
		errors.Join(err, w.Close(), bias.Close(), targets.Close(), floats.Close(), sums.Close())
}
