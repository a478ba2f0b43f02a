// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package simt

import (
	"errors"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies matrices of several shapes.
func Check(t *trial.T) error {
	k, err := t.Kernel("matmul_simt", Build)
	if err != nil {
		return err
	}
	for _, p := range trial.Within(t, trial.Product.Work, []trial.Product{{M: tile, N: tile, K: depth}, {M: 3 * tile, N: tile, K: 5 * depth}, {M: tile, N: 5 * tile, K: 4096}, {M: 1024, N: 896, K: 1000}}...) {
		as, bs := t.Floats(p.M*p.K), t.Floats(p.K*p.N)
		a, e1 := runtime.Upload(t.Device, as)
		b, e2 := runtime.Upload(t.Device, bs)
		d, e3 := runtime.Alloc[float32](t.Device, p.M*p.N)
		if err := errors.Join(e1, e2, e3); err != nil {
			return err
		}
		if err := k.Launch(runtime.Grid(p.N/tile, p.M/tile), a, b, d, p.N, p.K); err != nil {
			return err
		}
		ds, err := runtime.Download(d)
		if err := errors.Join(err, a.Close(), b.Close(), d.Close()); err != nil {
			return err
		}
		err = t.Holds(p, func(row, col int) float64 { return float64(ds[row*p.N+col]) },
			func(row, k int) float64 { return float64(as[row*p.K+k]) }, func(col, k int) float64 { return float64(bs[k*p.N+col]) }, 1e-5)
		if err != nil {
			return err
		}
	}
	return nil
}
