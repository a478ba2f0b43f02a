// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package streamk

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Targets are the PTX targets for which the kernel is built.
var Targets = []string{"sm_90a"}

// tolerance is half a unit in the last place of BF16, plus the error of F32 sums, which are
// truncated after every 16 products.
var tolerance = kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-24).TruncatedEvery(16))

// Check multiplies matrices with fewer tiles than blocks, with about as many tiles as blocks, and
// with more tiles, on grids of several sizes. It compares the products with a host reference.
func Check(t *kerneltest.T) error {
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
			for _, p := range kerneltest.Sizes(t, kerneltest.GEMM.Cost,
				kerneltest.GEMM{M: 1, N: 8, K: 8}, kerneltest.GEMM{M: 133, N: 136, K: 200},
				kerneltest.GEMM{M: 5, N: 264, K: 520},
				kerneltest.GEMM{M: 128, N: 128, K: 8192}, kerneltest.GEMM{M: 333, N: 1000, K: 1032},
				kerneltest.GEMM{M: 768, N: 1280, K: 448},
				kerneltest.GEMM{M: 2200, N: 2304, K: 1024},
			) {
				if err := check(t, k, tiling, p, blocks); err != nil {
					return fmt.Errorf("%+v, %d blocks: %w", tiling, blocks, err)
				}
			}
		}
	}
	return nil
}

// buffers holds the device memory of a launch.
type buffers struct {
	a, b, d  *runtime.Buffer[runtime.BF16]
	partials *runtime.Buffer[float32]
	flags    *runtime.Buffer[uint32]
}

// upload allocates the device memory of a launch and copies the operands to it.
func upload(t *kerneltest.T, tiling Tiling, p kerneltest.GEMM, as, bs []runtime.BF16,
	blocks int) (l buffers, err error) {
	partials, flags := tiling.Parts(blocks)
	var e1, e2, e3, e4, e5 error
	l.a, e1 = runtime.Upload(t.Device, as)
	l.b, e2 = runtime.Upload(t.Device, bs)
	l.d, e3 = runtime.Alloc[runtime.BF16](t.Device, p.M*p.N)
	l.partials, e4 = runtime.Alloc[float32](t.Device, partials)
	l.flags, e5 = runtime.Upload(t.Device, make([]uint32, flags))
	return l, errors.Join(e1, e2, e3, e4, e5)
}

// launcher returns a function that launches the kernel.
func (l buffers) launcher(k *runtime.Kernel, p kerneltest.GEMM, blocks int) (func() error, error) {
	a, e1 := k.TensorMap("a", l.a, p.M, p.K)
	b, e2 := k.TensorMap("b", l.b, p.N, p.K)
	d, e3 := k.TensorMap("d", l.d, p.M, p.N)
	return func() error {
		return k.Launch(runtime.Grid(blocks), a, b, d, l.partials, l.flags, p.M, p.N, p.K)
	}, errors.Join(e1, e2, e3)
}

// close frees the buffers.
func (l buffers) close() error {
	return errors.Join(l.a.Close(), l.b.Close(), l.d.Close(), l.partials.Close(), l.flags.Close())
}

// check runs the kernel three times on random matrices with edge values in some rows, where each
// launch reuses the memory of the previous launch. It compares the last product with a host
// reference.
func check(t *kerneltest.T, k *runtime.Kernel, tiling Tiling, p kerneltest.GEMM, blocks int) error {
	as, bs := kerneltest.Random(t, kerneltest.BF16, p.M*p.K),
		kerneltest.Random(t, kerneltest.BF16, p.N*p.K)
	kerneltest.EdgeRows(t, kerneltest.BF16, p.M, p.K, 0, func(row, k int) *runtime.BF16 {
		return &as[row*p.K+k]
	})
	kerneltest.EdgeRows(t, kerneltest.BF16, p.N, p.K, 1, func(row, k int) *runtime.BF16 {
		return &bs[row*p.K+k]
	})
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
	flags, e2 := runtime.Download(l.flags)
	if err := errors.Join(e1, e2, l.close()); err != nil {
		return err
	}
	for i, n := range flags {
		if n != 0 {
			return fmt.Errorf("%s: semaphore %d is %d after the launch, expected 0", p, i, n)
		}
	}
	return t.CompareGEMM(p, func(row, col int) float64 {
		return kerneltest.BF16.Float(ds[row*p.N+col])
	},
		func(row, k int) float64 { return kerneltest.BF16.Float(as[row*p.K+k]) },
		func(row, k int) float64 { return kerneltest.BF16.Float(bs[row*p.K+k]) }, tolerance)
}

// Speed notes the speed for sizes whose tiles fill the last wave, and for sizes whose tiles leave
// most multiprocessors idle in the last wave.
func Speed(t *kerneltest.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	blocks := t.Device.Info().SMs
	for _, c := range []struct {
		tiling Tiling
		p      kerneltest.GEMM
	}{
		{Wide, kerneltest.GEMM{M: 8192, N: 8192, K: 8192}},
		{Wide, kerneltest.GEMM{M: 3072, N: 3072, K: 4096}},
		{Wide, kerneltest.GEMM{M: 2304, N: 2304, K: 4096}},
		{Narrow, kerneltest.GEMM{M: 1024, N: 1024, K: 8192}},
		{Narrow, kerneltest.GEMM{M: 256, N: 1024, K: 16384}},
	} {
		k, err := t.Kernel("matmul_streamk", func(m *dsl.Module) { Build(m, c.tiling) })
		if err != nil {
			return err
		}
		l, err := upload(t, c.tiling, c.p, kerneltest.Random(t, kerneltest.BF16, c.p.M*c.p.K),
			kerneltest.Random(t, kerneltest.BF16, c.p.N*c.p.K), blocks)
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
		t.Note("%s, tiles of %d columns: %.0f TFLOP/s", c.p, c.tiling.N,
			2*float64(c.p.M)*float64(c.p.N)*float64(c.p.K)/took.Seconds()/1e12)
	}
	return nil
}
