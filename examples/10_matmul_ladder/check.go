// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of several shapes with every version and every swizzle.
func Check(t *trial.T) error {
	for version, build := range Versions() {
		for _, s := range []dsl.Swizzle{dsl.Swizzle32, dsl.Swizzle64, dsl.Swizzle128} {
			tiling := Default
			tiling.Swizzle, tiling.K = s, int(s)/2
			name := fmt.Sprintf("matmul_v%d", version)
			if version > 0 && t.Device.Info().Capability < 90 {
				return trial.Skip("version %d needs the TMA of sm_90; those before it are right", version)
			}
			k, err := t.Kernel(name, func(m *dsl.Module) { build(m, tiling) })
			if err != nil {
				return err
			}
			for _, p := range []trial.Product{{M: tiling.M, N: tiling.N, K: tiling.K}, {M: 3 * tiling.M, N: 5 * tiling.N, K: 7 * tiling.K}, {M: 2048, N: 1280, K: 2048}} {
				if err := Multiply(t, k, version, tiling, p); err != nil {
					return fmt.Errorf("%s with a swizzle of %d: %w", name, s, err)
				}
			}
		}
	}
	return nil
}

// Multiply runs a version on random matrices, and holds the product.
func Multiply(t *trial.T, k *runtime.Kernel, version int, tiling Tiling, p trial.Product) error {
	as, bs := t.Floats(p.M*p.K), t.Floats(p.N*p.K)
	a, e1 := runtime.Upload(t.Device, trial.BF16(as))
	b, e2 := runtime.Upload(t.Device, trial.BF16(bs))
	d, e3 := runtime.Alloc[runtime.BF16](t.Device, p.M*p.N)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	grid := runtime.Grid(p.M / tiling.M * (p.N / tiling.N))
	if version == 0 {
		if err := k.Launch(grid, a, b, d, p.M, p.N, p.K); err != nil {
			return err
		}
	} else {
		mapA, e1 := k.TensorMap("a", a, p.M, p.K)
		mapB, e2 := k.TensorMap("b", b, p.N, p.K)
		if err := errors.Join(e1, e2); err != nil {
			return err
		}
		if err := k.Launch(grid, mapA, mapB, d, p.M, p.N, p.K); err != nil {
			return err
		}
	}
	ds, err := runtime.Download(d)
	if err := errors.Join(err, a.Close(), b.Close(), d.Close()); err != nil {
		return err
	}
	return t.Holds(p, func(row, col int) float64 { return float64(ds[row*p.N+col].Float32()) },
		func(row, k int) float64 { return float64(as[row*p.K+k]) }, func(col, k int) float64 { return float64(bs[col*p.K+k]) }, 1.0/200)
}
