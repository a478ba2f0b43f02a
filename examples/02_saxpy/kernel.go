// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package saxpy is a kernel that computes y = a*x + y, four elements at a time.
package saxpy

import "github.com/ptxdsl/ptxdsl/dsl"

// Build adds to m a kernel that computes y[i] = a*x[i] + y[i] for i < n, where n is a multiple of
// four. The threads of the grid step through the vectors together (a grid-stride loop); each
// thread loads and stores 16 bytes at a time.
func Build(m *dsl.Module) {
	k := m.Kernel("saxpy", dsl.Threads(256))
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
	a, n := dsl.Param[dsl.F32](k, "a"), dsl.Param[dsl.U32](k, "n")
	for i := range k.GridStride(n.ShrI(2)) {
		at := i.ShlI(2)
		xs, ys := x.LoadVec(at, 4, dsl.NC), y.LoadVec(at, 4)
		for j := range ys {
			ys[j] = a.FMA(xs[j], ys[j])
		}
		y.StoreVec(at, ys)
	}
}

// Reference returns a*x + y, computed on the CPU.
func Reference(a float32, x, y []float32) []float32 {
	out := make([]float32, len(y))
	for i := range out {
		out[i] = float32(float64(a)*float64(x[i]) + float64(y[i]))
	}
	return out
}
