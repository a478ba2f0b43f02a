// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package stencil smooths a vector: y[i] = (x[i-1] + x[i] + x[i+1]) / 3.
package stencil

import "github.com/ptxdsl/ptxdsl/dsl"

const threads = 256

// Build adds the kernel smooth(x, y, n) to a module. Elements outside of x count as zero.
func Build(m *dsl.Module) {
	k := m.Kernel("smooth", dsl.Threads(threads))
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
	n := dsl.Param[dsl.U32](k, "n")
	tile := dsl.Shared[dsl.F32](k, "tile", threads+2)

	t := k.TID().X
	i := k.CTAID().X.Mad(k.NTID().X, t)
	// Go closures serve as device functions that are always inlined.
	fetch := func(i dsl.Reg[dsl.U32]) dsl.Reg[dsl.F32] {
		v := k.F32(0).Var()
		k.If(i.LT(n), func() { v.Set(x.Load(i)) })
		return v
	}

	tile.Store(t.AddI(1), fetch(i))
	k.If(t.EQI(0), func() { tile.StoreI(0, fetch(i.SubI(1))) }) // 0 - 1 wraps around: not below n
	k.If(t.EQI(threads-1), func() { tile.StoreI(threads+1, fetch(i.AddI(1))) })
	k.Sync()
	k.If(i.LT(n), func() {
		sum := tile.Load(t).Add(tile.Load(t.AddI(1))).Add(tile.Load(t.AddI(2)))
		y.Store(i, sum.MulF(1.0/3))
	})
}
