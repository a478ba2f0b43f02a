// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package w4a16

import (
	"errors"
	"fmt"
	"time"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A way is a kernel with its grid.
type way struct {
	name   string
	build  func(*dsl.Module)
	blocks func(m, n, k int) (runtime.Config, error)
}

var ways = []way{
	{"w4a16", Build, func(m, n, k int) (runtime.Config, error) {
		blocks, err := Blocks(m, n, k)
		return runtime.Grid(blocks), err
	}},
	{"w4a16_few", BuildFew, func(m, n, k int) (runtime.Config, error) {
		x, y, err := BlocksFew(m, n, k)
		return runtime.Grid(x, y), err
	}},
}

// Check multiplies random matrices of several shapes, with both kernels.
func Check(t *trial.T) error {
	for _, p := range []trial.Product{{M: 128, N: 256, K: 1024}, {M: 1, N: 512, K: 128}, {M: 16, N: 64, K: 256}, {M: 333, N: 704, K: 640}, {M: 640, N: 1024, K: 2048}} {
		for _, w := range ways {
			if err := w.check(t, p); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

func (w way) check(t *trial.T, p trial.Product) error {
	weights := make([]uint8, p.N*p.K)
	for i, x := range t.Integers(len(weights)) {
		weights[i] = uint8(x & 15)
	}
	scales := trial.Elements(t, p.K/Group*p.N, trial.Half)
	for i, x := range scales {
		scales[i] = runtime.ToF16(x.Float32() / Zero) // so that no number is larger than one
	}
	packed, e1 := Pack(weights, p.N, p.K)
	factors, e2 := PackScales(scales, p.N)
	grid, e3 := w.blocks(p.M, p.N, p.K)
	k, e4 := t.Kernel(w.name, w.build)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	b := trial.MatrixOf(p.N, p.K, packed, func(row, col int) float64 {
		scale := scales[col/Group*p.N+row].Float32()
		return float64(Dequantize(weights[row*p.K+col], scale))
	})
	return trial.Multiply(t, k, grid, trial.Random(t, p.M, p.K, trial.Half), b, trial.Half, 1e-3,
		map[string]trial.Matrix{"scales": trial.MatrixOf(p.K/Group, p.N, factors, nil)})
}

// Speed measures products of many rows, beside the work that they are, and of few, beside the weights that they read: one by one, and one behind the
// other with as many weights as no cache holds.
func Speed(t *trial.T) error {
	const n, depth, layers = 8192, 8192, 8
	for i, rows := range []int{4096, 16} {
		w := ways[i]
		k, e1 := t.Kernel(w.name, w.build)
		grid, e2 := w.blocks(rows, n, depth)
		a, e3 := runtime.Upload(t.Device, trial.Elements(t, rows*depth, trial.Half))
		b, e4 := runtime.Upload(t.Device, t.Integers(layers*n*depth/8))
		scales, e5 := runtime.Upload(t.Device, trial.Elements(t, depth/Group*n, trial.Half))
		d, e6 := runtime.Alloc[runtime.F16](t.Device, rows*n)
		if err := errors.Join(e1, e2, e3, e4, e5, e6); err != nil {
			return err
		}
		behind := grid
		if rows == 16 && t.Device.Info().Capability >= 90 {
			behind = grid.Programmatic()
		}
		layer := func(i int) error {
			weights, err := b.Slice(i*n*depth/8, (i+1)*n*depth/8)
			if err != nil {
				return err
			}
			return k.Launch(behind, a, weights, scales, d, rows, n, depth)
		}
		one, e1 := t.Median(func() error { return layer(0) })
		all, e2 := t.Median(func() error {
			for i := range layers {
				if err := layer(i); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(e1, e2, a.Close(), b.Close(), scales.Close(), d.Close()); err != nil {
			return err
		}
		for _, m := range []struct {
			name string
			took time.Duration
		}{{"", one}, {" of layers", all / layers}} {
			work, weights := 2*float64(rows)*n*depth, n*depth/2.0
			t.Note("%d rows%s: %.0f TFLOP/s, %.0f GB/s of weights", rows, m.name, work/m.took.Seconds()/1e12, weights/m.took.Seconds()/1e9)
		}
	}
	return nil
}

// Dequantize is the number that a weight stands for, rounded as the kernel rounds it.
func Dequantize(weight uint8, scale float32) float32 {
	return runtime.ToF16(float32(int(weight)-Zero) * scale).Float32()
}
