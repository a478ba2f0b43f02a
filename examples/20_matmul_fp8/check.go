// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package fp8

import (
	"errors"

	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Check multiplies random matrices of several shapes, of which some end within a tile and within a block of the depth.
func Check(t *trial.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	k, err := t.Kernel("matmul_fp8", Build)
	if err != nil {
		return err
	}
	for _, p := range []trial.Product{{M: 128, N: 128, K: 128}, {M: 384, N: 640, K: 1152}, {M: 1, N: 2, K: 16}, {M: 333, N: 190, K: 336}, {M: 2048, N: 1920, K: 4096}} {
		countA, _ := Factors(p.M, p.K)
		_, countB := Factors(p.N, p.K)
		factorsA, factorsB := trial.Elements(t, countA, trial.Single), trial.Elements(t, countB, trial.Single)
		as, bs := trial.Elements(t, p.M*p.K, trial.E4M3), trial.Elements(t, p.N*p.K, trial.E4M3)
		down, deep := (p.M+Block-1)/Block, (p.K+Block-1)/Block
		a := trial.MatrixOf(p.M, p.K, as, func(row, col int) float64 {
			return trial.E4M3.Worth(as[row*p.K+col]) * float64(factorsA[col/Block*down*Block+row])
		})
		b := trial.MatrixOf(p.N, p.K, bs, func(row, col int) float64 {
			return trial.E4M3.Worth(bs[row*p.K+col]) * float64(factorsB[row/Block*deep+col/Block])
		})
		err := errors.Join(Takes(p.N, p.K), trial.Multiply(t, k, runtime.Grid(t.Device.Info().SMs), a, b, trial.Brain, 3e-3, map[string]trial.Matrix{
			"factors_a": trial.MatrixOf(1, countA, factorsA, nil),
			"factors_b": trial.MatrixOf(1, countB, factorsB, nil),
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// Speed measures products of random numbers.
func Speed(t *trial.T) error {
	if err := t.Needs("wgmma", 90, 100); err != nil {
		return err
	}
	k, err := t.Kernel("matmul_fp8", Build)
	if err != nil {
		return err
	}
	for _, n := range []int{4096, 8192} {
		countA, countB := Factors(n, n)
		xs := t.Integers(n * n / 4)
		bytes := make([]uint8, 0, n*n)
		for _, x := range xs {
			x &= 0x77777777 // no number is NaN
			bytes = append(bytes, uint8(x), uint8(x>>8)|0x80, uint8(x>>16), uint8(x>>24))
		}
		a, e1 := runtime.Upload(t.Device, bytes)
		factorsA, e2 := runtime.Upload(t.Device, t.Floats(countA))
		factorsB, e3 := runtime.Upload(t.Device, t.Floats(countB))
		d, e4 := runtime.Alloc[runtime.BF16](t.Device, n*n)
		if err := errors.Join(e1, e2, e3, e4); err != nil {
			return err
		}
		left, e1 := k.TensorMap("a", a, n, n)
		right, e2 := k.TensorMap("b", a, n, n)
		if err := errors.Join(e1, e2); err != nil {
			return err
		}
		grid := runtime.Grid(t.Device.Info().SMs)
		took, err := t.Median(func() error { return k.Launch(grid, left, right, factorsA, factorsB, d, n, n, n) })
		if err := errors.Join(err, a.Close(), factorsA.Close(), factorsB.Close(), d.Close()); err != nil {
			return err
		}
		t.Note("%d: %.0f TFLOP/s", n, 2*float64(n)*float64(n)*float64(n)/took.Seconds()/1e12)
	}
	return nil
}
