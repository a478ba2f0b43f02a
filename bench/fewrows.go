// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	w4a16 "github.com/ptxdsl/ptxdsl/examples/19_matmul_w4a16"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// FewRows measures a product of few rows with the 4-bit weights of 16 layers, 8192 x 8192 each,
// whose launches overlap. It also measures a copy of half of the weights, which reads and writes
// as many bytes as the product reads. On Hopper, each kernel prefetches weights of the next layer,
// also the last one, and if there are several rows, the activations are read through a tensor map.
func FewRows(b *Bench, rows int) ([]Result, error) {
	const n, depth, layers = 8192, 8192, 16
	const bytes = layers * n * depth / 2
	t := &kerneltest.T{Device: b.Device, Rand: b.rand}
	hopper := b.Device.Info().Capability >= 90
	name, build := "w4a16_few", w4a16.BuildFew
	if box := w4a16.BoxFew(rows); hopper {
		build = func(m *dsl.Module) { w4a16.BuildFewAhead(m, box) }
		switch name = "w4a16_few_tensor_ahead"; {
		case box == 0:
			name = "w4a16_few_ahead"
		case box < 16:
			name = fmt.Sprintf("w4a16_few_tensor%d_ahead", box)
		}
	}
	k, e1 := t.Kernel(name, build)
	copies, e2 := t.Kernel("copy", copyKernel)
	w, e3 := filledBuffer(b, bytes/4, func(f float32) float32 { return f })
	scales, e4 := runtime.Upload(b.Device,
		kerneltest.Random(t, kerneltest.F16, depth/w4a16.Group*n))
	a, e5 := runtime.Upload(b.Device, kerneltest.Random(t, kerneltest.F16, rows*depth))
	d, e6 := runtime.Alloc[runtime.F16](b.Device, rows*n)
	x, y, e7 := w4a16.BlocksFew(rows, n, depth)
	if err := errors.Join(e1, e2, e3, e4, e5, e6, e7); err != nil {
		return nil, err
	}
	grid := runtime.Grid(x, y).On(b.Stream)
	if hopper {
		grid = grid.Programmatic()
	}
	var activations any = a
	if k.Params()[0].Box != nil {
		var err error
		if activations, err = k.Tensor("a", a, []int{rows, depth}); err != nil {
			return nil, err
		}
	}
	j := Job{Group: "W4A16", Name: fmt.Sprintf("%dx%dx%d", rows, n, depth), Bytes: bytes,
		Base: "copy, kernel"}
	j.Contenders = []Contender{
		{"ours", func() error {
			for i := range layers {
				layer := func(i int) runtime.Address {
					return w.Address() + runtime.Address(i%layers*bytes/layers)
				}
				args := []any{activations, layer(i), scales, d, rows, n, depth}
				if hopper {
					args = append(args, layer(i+1))
				}
				if err := k.Launch(grid, args...); err != nil {
					return err
				}
			}
			return nil
		}},
		{"copy, kernel", func() error {
			return copies.Launch(runtime.Grid(bytes/2/16/1024).On(b.Stream), w.Address(),
				w.Address()+bytes/2)
		}},
	}
	results, err := b.Measure(j)
	err = errors.Join(err, repeats(b, j, d, j.Contenders[0].Run))
	return results, errors.Join(err, w.Close(), scales.Close(), a.Close(), d.Close())
}
