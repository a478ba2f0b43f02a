// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package zoo

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

func copyTwins() []twin {
	return []twin{
		{1, "no_fence", noFence, block(128), ""},
		{2, "no_barrier", noBarrier, block(128), ""},
		{3, "swapped", swapped, block(128), ""},
		{4, "elected_fence", electedFence, block(128), ""},
		{5, "branch_skips", branchSkips, block(128), ""},
		{6, "reader_no_fence", readerNoFence, block(128), ""},
		{7, "global_fence", globalFence, block(128), "FenceAsync is for shared memory"},
		{8, "peer_fence", peerFence, pair(), "FenceAsync is for the block's own memory"},
		{9, "wait_before_commit", waitBeforeCommit, block(128), ""},
		{10, "no_barrier_after_wait", noBarrierAfterWait, block(128), ""},
		{11, "read_wait_then_flag", readWaitThenFlag, block(128), ""},
		{12, "ring_depth", ringDepth, block(128), ""},
		{13, "source_rewritten", sourceRewritten, block(128), ""},
		{14, "map_edited", mapEdited, block(128), "no call edits a tensor map"},
	}
}

// written returns a tile of shared memory to which each thread has written its index, and the
// destination in global memory.
func written(k *dsl.Kernel) (out, tile dsl.Array[dsl.U32]) {
	out, tile = dsl.Global[dsl.U32](k, "out"), dsl.Shared[dsl.U32](k, "tile", 128)
	tile.Store(k.TID().X, k.TID().X)
	return out, tile
}

// first lets one thread of the block run body.
func first(k *dsl.Kernel, body func()) { k.If(k.TID().X.EQI(0), body) }

func noFence(k *dsl.Kernel, good bool) {
	out, tile := written(k)
	if good {
		k.FenceAsync()
	}
	k.Sync()
	first(k, func() {
		out.BulkStore(tile, k.U32(128)) // want "^A1 "
		k.CommitStores()
		k.WaitStores(0)
	})
}

func noBarrier(k *dsl.Kernel, good bool) {
	out, tile := written(k)
	k.FenceAsync()
	if good {
		k.Sync()
	}
	first(k, func() {
		out.BulkStore(tile, k.U32(128)) // want "^A1 "
		k.CommitStores()
		k.WaitStores(0)
	})
}

func swapped(k *dsl.Kernel, good bool) {
	out, tile := written(k)
	if good {
		k.FenceAsync()
		k.Sync()
	} else {
		k.Sync()
		k.FenceAsync()
	}
	first(k, func() {
		out.BulkStore(tile, k.U32(128)) // want "^A1 "
		k.CommitStores()
		k.WaitStores(0)
	})
}

func electedFence(k *dsl.Kernel, good bool) {
	out, tile := written(k)
	if good {
		k.FenceAsync()
	} else {
		first(k, k.FenceAsync)
	}
	k.Sync()
	first(k, func() {
		out.BulkStore(tile, k.U32(128)) // want "^A1 "
		k.CommitStores()
		k.WaitStores(0)
	})
}

func branchSkips(k *dsl.Kernel, good bool) {
	out, tile := written(k)
	n := dsl.Param[dsl.U32](k, "n")
	if good {
		k.FenceAsync()
	} else {
		k.If(n.NEI(0), k.FenceAsync)
	}
	k.Sync()
	first(k, func() {
		out.BulkStore(tile, k.U32(128)) // want "^A1 "
		k.CommitStores()
		k.WaitStores(0)
	})
}

func readerNoFence(k *dsl.Kernel, good bool) {
	r := newRing(k)
	k.Roles(dsl.OnWarp(0, "load", r.load), dsl.OnWarps(1, 3, "use", func(u32) {
		r.turns(0, true, func(slot, parity u32) {
			r.full.At(slot).Wait(parity)
			r.use(slot)
			if good {
				k.FenceAsync()
			}
			r.empty.At(slot).Arrive() // want "^A2 "
		})
	}))
}

func globalFence(k *dsl.Kernel, good bool) {
	out, tile := written(k)
	if good {
		k.FenceAsync()
	} else {
		k.Ins("fence.proxy.async.global")
	}
	k.Sync()
	first(k, func() {
		out.BulkStore(tile, k.U32(128)) // want "^A4 "
		k.CommitStores()
		k.WaitStores(0)
	})
}

func peerFence(k *dsl.Kernel, good bool) {
	out, tile, tid := dsl.Global[dsl.U32](k, "out"), dsl.Shared[dsl.U32](k, "tile", 128), k.TID().X
	k.SyncCluster()
	tile.InBlock(k.ClusterRank().XorI(1)).Store(tid, tid)
	if good {
		k.Ins("fence.proxy.async")
	} else {
		k.FenceAsync()
	}
	k.SyncCluster()
	first(k, func() {
		out.BulkStore(tile, k.U32(128)) // want "^A4 "
		k.CommitStores()
		k.WaitStores(0)
	})
	k.SyncCluster()
}

// copied starts a copy of four values per thread. It returns their destination, and that of the
// values of another warp.
func copied(k *dsl.Kernel, slot u32) (mine, other dsl.Array[dsl.U32]) {
	in, tile := dsl.Global[dsl.U32](k, "in"), dsl.Shared[dsl.U32](k, "tile", 2, 512)
	at := k.TID().X.ShlI(2)
	mine = tile.At(at)
	k.Ins("cp.async.cg.shared.global", mine.At(slot.ShlI(9)).Addr(), in.At(at).Addr(), 16)
	return mine, tile.At(at.XorI(256))
}

func waitBeforeCommit(k *dsl.Kernel, good bool) {
	_, other := copied(k, k.U32(0))
	if good {
		k.CommitCopies()
		k.WaitCopies(0)
	} else {
		k.WaitCopies(0)
		k.CommitCopies()
	}
	k.Sync()
	x := other.LoadI(0) // want "^A5 "
	dsl.Global[dsl.U32](k, "out").Store(k.TID().X, x)
}

func noBarrierAfterWait(k *dsl.Kernel, good bool) {
	_, other := copied(k, k.U32(0))
	k.CommitCopies()
	k.WaitCopies(0)
	if good {
		k.Sync()
	}
	x := other.LoadI(0) // want "^A5 "
	dsl.Global[dsl.U32](k, "out").Store(k.TID().X, x)
}

func readWaitThenFlag(k *dsl.Kernel, good bool) {
	out, tile := written(k)
	flag := dsl.Global[dsl.U32](k, "flag")
	k.FenceAsync()
	k.Sync()
	first(k, func() {
		out.BulkStore(tile, k.U32(128))
		k.CommitStores()
		if good {
			k.WaitStores(0)
		} else {
			k.WaitStoresRead(0)
		}
		flag.StoreI(0, k.U32(1), "release.gpu") // want "^A6 "
		k.WaitStores(0)
	})
}

func ringDepth(k *dsl.Kernel, good bool) {
	n, out, tid := dsl.Param[dsl.U32](k, "n"), dsl.Global[dsl.U32](k, "out"), k.TID().X
	mine, other := copied(k, k.U32(0))
	from := dsl.Global[dsl.U32](k, "more").At(tid.ShlI(2))
	k.CommitCopies()
	for i := range k.Range(k.U32(0), n) {
		slot := i.AndI(1)
		k.Ins("cp.async.cg.shared.global", mine.At(slot.XorI(1).ShlI(9)).Addr(), from.Addr(), 16)
		k.CommitCopies()
		if good {
			k.WaitCopies(1)
		} else {
			k.WaitCopies(2)
		}
		k.Sync()
		x := other.At(slot.ShlI(9)).LoadI(0) // want "^A7 "
		out.Store(tid, x)
		k.Sync()
	}
}

func sourceRewritten(k *dsl.Kernel, good bool) {
	out, tile := written(k)
	k.FenceAsync()
	k.Sync()
	first(k, func() {
		out.BulkStore(tile, k.U32(128))
		k.CommitStores()
		if good {
			k.WaitStoresRead(0)
		}
		tile.StoreI(4, k.U32(7)) // want "^A8 "
		k.WaitStores(0)
	})
}

func mapEdited(k *dsl.Kernel, good bool) {
	from := dsl.Global[dsl.U32](k, "from")
	tensors, full := dsl.Global[dsl.B64](k, "tensors"), k.Barrier("full", 1)
	tile := k.SharedTile("tile", dsl.Tile{Type: isa.F32, Rows: 1, Cols: 256})
	first(k, func() {
		k.Ins("tensormap.replace.tile.global_address.global.b1024.b64", tensors.Addr(),
			from.Addr().Value64())
		if good {
			k.Ins("fence.proxy.tensormap::generic.release.gpu")
			k.Ins("fence.proxy.tensormap::generic.acquire.gpu", tensors.Addr(), 128)
		}
		full.ArriveExpect(k.U32(1024))
		k.Ins("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", // want "^A11 "
			tile.Addr(), dsl.Bracket(tensors.Addr().Value64(), []dsl.Operand{k.U32(0)}),
			full.Addr())
		full.Wait(k.U32(0))
	})
}
