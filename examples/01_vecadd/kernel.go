// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package vecadd is a kernel that adds two vectors.
package vecadd

import "github.com/ptxdsl/ptxdsl/dsl"

// Build adds to m a kernel that computes c[i] = a[i] + b[i] for i < n, with one thread per
// element.
func Build(m *dsl.Module) {
	k := m.Kernel("vecadd", dsl.Threads(256))
	a, b, c := dsl.Global[dsl.F32](k, "a"), dsl.Global[dsl.F32](k, "b"), dsl.Global[dsl.F32](k, "c")
	n := dsl.Param[dsl.U32](k, "n")
	i := k.CTAID().X.Mad(k.NTID().X, k.TID().X)
	k.If(i.LT(n), func() { c.Store(i, a.Load(i).Add(b.Load(i))) })
}

// Reference returns a + b, computed on the CPU.
func Reference(a, b []float32) []float32 {
	c := make([]float32, len(a))
	for i := range c {
		c[i] = a[i] + b[i]
	}
	return c
}
