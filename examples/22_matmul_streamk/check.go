// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package streamk

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices whose tiles are fewer than the blocks, about as many, and more, on grids of several sizes.
func Check(t *trial.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	sms := t.Device.Info().SMs
	for _, tiling := range []Tiling{Wide, Narrow} {
		k, err := t.Kernel("matmul_streamk", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			return err
		}
		for _, blocks := range []int{1, 7, sms} {
			for _, p := range []trial.Product{{M: 1, N: 8, K: 8}, {M: 128, N: 128, K: 8192}, {M: 333, N: 1000, K: 1032}, {M: 768, N: 1280, K: 448}, {M: 2200, N: 2304, K: 1024}} {
				if err := check(t, k, tiling, p, blocks); err != nil {
					return fmt.Errorf("%+v, %d blocks: %w", tiling, blocks, err)
				}
			}
		}
	}
	return nil
}

// A load is matrices on a device, and what a launch takes besides them.
type load struct {
	a, b, d *runtime.Buffer[runtime.BF16]
	parts   *runtime.Buffer[float32]
	told    *runtime.Buffer[uint32]
}

// upload brings what a product of two matrices needs on a grid of so many blocks.
func upload(t *trial.T, tiling Tiling, p trial.Product, as, bs []runtime.BF16, blocks int) (l load, err error) {
	parts, told := tiling.Parts(blocks)
	var e1, e2, e3, e4, e5 error
	l.a, e1 = runtime.Upload(t.Device, as)
	l.b, e2 = runtime.Upload(t.Device, bs)
	l.d, e3 = runtime.Alloc[runtime.BF16](t.Device, p.M*p.N)
	l.parts, e4 = runtime.Alloc[float32](t.Device, parts)
	l.told, e5 = runtime.Upload(t.Device, make([]uint32, told))
	return l, errors.Join(e1, e2, e3, e4, e5)
}

// launcher is a launch that can be made again and again.
func (l load) launcher(k *runtime.Kernel, p trial.Product, blocks int) (func() error, error) {
	a, e1 := k.TensorMap("a", l.a, p.M, p.K)
	b, e2 := k.TensorMap("b", l.b, p.N, p.K)
	d, e3 := k.TensorMap("d", l.d, p.M, p.N)
	return func() error { return k.Launch(runtime.Grid(blocks), a, b, d, l.parts, l.told, p.M, p.N, p.K) }, errors.Join(e1, e2, e3)
}

// close gives the memory back.
func (l load) close() error {
	return errors.Join(l.a.Close(), l.b.Close(), l.d.Close(), l.parts.Close(), l.told.Close())
}

// check multiplies random matrices three times, with what the launch before left in memory, and holds the last product.
func check(t *trial.T, k *runtime.Kernel, tiling Tiling, p trial.Product, blocks int) error {
	as, bs := trial.Elements(t, p.M*p.K, trial.Brain), trial.Elements(t, p.N*p.K, trial.Brain)
	l, err := upload(t, tiling, p, as, bs, blocks)
	if err != nil {
		return err
	}
	launch, err := l.launcher(k, p, blocks)
	if err != nil {
		return err
	}
	for range 3 {
		if err := launch(); err != nil {
			return err
		}
	}
	ds, e1 := runtime.Download(l.d)
	told, e2 := runtime.Download(l.told)
	if err := errors.Join(e1, e2, l.close()); err != nil {
		return err
	}
	for i, n := range told {
		if n != 0 {
			return fmt.Errorf("%s: semaphore %d is left at %d", p, i, n)
		}
	}
	return t.Holds(p, func(row, col int) float64 { return trial.Brain.Worth(ds[row*p.N+col]) },
		func(row, k int) float64 { return trial.Brain.Worth(as[row*p.K+k]) },
		func(row, k int) float64 { return trial.Brain.Worth(bs[row*p.K+k]) }, 1.0/200)
}

// Speed measures products whose tiles fill the last round badly, and well.
func Speed(t *trial.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	blocks := t.Device.Info().SMs
	for _, c := range []struct {
		tiling Tiling
		p      trial.Product
	}{
		{Wide, trial.Product{M: 8192, N: 8192, K: 8192}}, {Wide, trial.Product{M: 3072, N: 3072, K: 4096}}, {Wide, trial.Product{M: 2304, N: 2304, K: 4096}},
		{Narrow, trial.Product{M: 1024, N: 1024, K: 8192}}, {Narrow, trial.Product{M: 256, N: 1024, K: 16384}},
	} {
		k, err := t.Kernel("matmul_streamk", func(m *dsl.Module) { Build(m, c.tiling) })
		if err != nil {
			return err
		}
		l, err := upload(t, c.tiling, c.p, trial.Elements(t, c.p.M*c.p.K, trial.Brain), trial.Elements(t, c.p.N*c.p.K, trial.Brain), blocks)
		if err != nil {
			return err
		}
		launch, err := l.launcher(k, c.p, blocks)
		if err != nil {
			return err
		}
		took, err := t.Median(launch)
		if err := errors.Join(err, l.close()); err != nil {
			return err
		}
		t.Note("%s, tiles of %d columns: %.0f TFLOP/s", c.p, c.tiling.N, 2*float64(c.p.M)*float64(c.p.N)*float64(c.p.K)/took.Seconds()/1e12)
	}
	return nil
}
