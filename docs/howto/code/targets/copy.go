// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package targets builds one kernel for several targets.
package targets

import "github.com/ptxdsl/ptxdsl/dsl"

// Build adds a kernel that copies blocks of 1024 elements, and adds one to each: with a bulk copy
// on sm_90 and later, and with cp.async on older targets.
func Build(m *dsl.Module) {
	k := m.Kernel("increment", dsl.Threads(256))
	x, y := dsl.Global[dsl.F32](k, "x"), dsl.Global[dsl.F32](k, "y")
	tile := dsl.Shared[dsl.F32](k, "tile", 1024)
	t := k.TID().X
	first := k.CTAID().X.MulI(1024)
	own := t.MulI(4)

	if m.Has(90) { // a Go condition, evaluated while the kernel is built
		full := k.Barrier("full", 1)
		k.If(t.EQI(0), func() {
			full.ArriveExpect(k.U32(4096))
			x.At(first).BulkLoad(tile, k.U32(1024), full)
		})
		full.Wait(k.U32(0))
	} else {
		x.At(first.Add(own)).CopyAsync(tile.At(own), 4)
		k.CommitCopies()
		k.WaitCopies(0)
		k.Sync()
	}
	v := tile.LoadVec(own, 4)
	for i := range v {
		v[i] = v[i].AddF(1)
	}
	y.StoreVec(first.Add(own), v)
}
