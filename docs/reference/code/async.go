// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Async shows asynchronous copies.
func Async(m *dsl.Module) {
	k := m.Kernel("async", dsl.Threads(256))
	x := dsl.Global[dsl.F32](k, "x")
	image := k.TensorMap("image", isa.F32, dsl.Box{Rows: 8, Cols: 32}, dsl.NoSwizzle)
	t := k.TID().X
	first := t.EQI(0)

	//cuda: `__pipeline_memcpy_async(&tile[4*t], &x[4*t], 16)`
	tile := dsl.Shared[dsl.F32](k, "tile", 1024)
	x.At(t.MulI(4)).CopyAsync(tile.At(t.MulI(4)), 4)

	//cuda: `__pipeline_commit()`, `__pipeline_wait_prior(0)`, `__syncthreads()`
	k.CommitCopies()
	k.WaitCopies(0)
	k.Sync()
	x.Store(t, tile.Load(t))

	//cuda: `mbarrier_init(&bar, 1)`, with the fence and the barrier that follow
	bar := k.Barrier("bar", 1)

	//cuda: `cp.async.bulk` of 4 KB, signalled at an mbarrier
	chunk := dsl.Shared[dsl.F32](k, "chunk", 1024)
	k.If(first, func() {
		bar.ArriveExpect(k.U32(4096))
		x.BulkLoad(chunk, k.U32(1024), bar)
	})

	//cuda: `while (!mbarrier_try_wait_parity(&bar, 0));`
	bar.Wait(k.U32(0))
	x.Store(t, chunk.Load(t))

	//cuda: `cp.async.bulk.tensor.2d` of a tile
	box, full := k.SharedTile("box", image.Tile()), k.Barrier("full", 1)
	k.If(first, func() {
		full.ArriveExpect(k.U32(1024))
		image.Load(box, k.U32(0), k.U32(0), full)
	})
	full.Wait(k.U32(0))

	//cuda:text an element of a tile with any swizzle
	e := dsl.Element[dsl.F32](box, t.ShrI(5), t.AndI(31))
	e.StoreFirst(e.LoadFirst().MulF(2))

	//cuda: `fence.proxy.async`, before a bulk store of what threads wrote
	k.FenceAsync()
	k.Sync()

	//cuda: a bulk tensor store, `commit_group` and `wait_group 0`
	k.If(first, func() {
		image.Store(box, k.U32(0), k.U32(0))
		k.CommitStores()
		k.WaitStores(0)
	})

	//cuda: `cp.reduce.async.bulk.tensor` with `.add`
	k.If(first, func() {
		image.Reduce("add", box, k.U32(8), k.U32(0))
		k.CommitStores()
		k.WaitStores(0)
	})
}
