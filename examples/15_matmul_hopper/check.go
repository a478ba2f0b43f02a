// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of several shapes, with clusters and without.
func Check(t *trial.T) error {
	if t.Target() != "sm_90a" {
		return trial.Skip("wgmma is for sm_90a, and this is %s", t.Target())
	}
	clustered := Default
	clustered.Cluster = 2
	for _, tiling := range []Tiling{Default, clustered, For(3072, 3072, 132), For(128, 128, 132)} {
		k, err := t.Kernel("matmul", func(m *dsl.Module) { Build(m, tiling) })
		if err != nil {
			return err
		}
		for _, p := range []trial.Product{{M: 256, N: 256, K: 64}, {M: 768, N: 1280, K: 448}, {M: 2048, N: 2304, K: 2048}, {M: 1, N: 8, K: 8}, {M: 333, N: 1000, K: 72}} {
			if err := Multiply(t, k, tiling, p); err != nil {
				return fmt.Errorf("%+v: %w", tiling, err)
			}
		}
	}
	return nil
}

// Blocks is the grid of a launch: the multiprocessors, in whole clusters, but no more than there is work.
func Blocks(t Tiling, p trial.Product, multiprocessors int) int {
	tiles := (t.Tiles(p.M, p.N) + t.Cluster - 1) / t.Cluster * t.Cluster
	return min(multiprocessors/t.Cluster*t.Cluster, tiles)
}

// Multiply runs the kernel on random matrices, and holds the product.
func Multiply(t *trial.T, k *runtime.Kernel, tiling Tiling, p trial.Product) error {
	as, bs := t.Floats(p.M*p.K), t.Floats(p.N*p.K)
	a, e1 := runtime.Upload(t.Device, trial.BF16(as))
	b, e2 := runtime.Upload(t.Device, trial.BF16(bs))
	d, e3 := runtime.Alloc[runtime.BF16](t.Device, p.M*p.N)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	mapA, e1 := k.TensorMap("a", a, p.M, p.K)
	mapB, e2 := k.TensorMap("b", b, p.N, p.K)
	mapD, e3 := k.TensorMap("d", d, p.M, p.N)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(Blocks(tiling, p, t.Device.Info().SMs)), mapA, mapB, mapD, p.M, p.N, p.K); err != nil {
		return err
	}
	ds, err := runtime.Download(d)
	if err := errors.Join(err, a.Close(), b.Close(), d.Close()); err != nil {
		return err
	}
	return t.Holds(p, func(row, col int) float64 { return float64(ds[row*p.N+col].Float32()) },
		func(row, k int) float64 { return float64(as[row*p.K+k]) }, func(col, k int) float64 { return float64(bs[col*p.K+k]) }, 1.0/200)
}
