// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package saxpy computes y = a*x + y.
package saxpy

import "github.com/ptxdsl/ptxdsl/dsl"

// Build adds the kernel saxpy(x, y, a, n) to a module.
func Build(m *dsl.Module) {
	k := m.Kernel("saxpy", dsl.Threads(256))
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
	a, n := dsl.Param[dsl.F32](k, "a"), dsl.Param[dsl.U32](k, "n")
	for i := range k.GridStride(n) {
		y.Store(i, a.FMA(x.Load(i), y.Load(i)))
	}
}
