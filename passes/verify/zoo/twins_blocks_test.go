// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package zoo

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

func blockTwins() []twin {
	return []twin{
		{30, "count_mismatch", countMismatch, block(128), ""},
		{31, "under_elect", underElect, block(128), ""},
		{32, "id_collision", idCollision, block(128), ""},
		{33, "relaxed_arrive", relaxedArrive, pair(),
			"Barrier has the fence, SyncCluster is not relaxed"},
		{34, "entry", noSyncAtEntry, pair(), ""},
		{35, "exit", noSyncAtExit, pair(), ""},
		{36, "move_behind_fence", moveBehindFence, block(128), "Accumulator has the fence"},
		{37, "early_epilogue", earlyEpilogue, block(128), "Accumulator waits"},
		{38, "one_warp_releases", oneWarpReleases, block(256),
			"Accumulator and Pipeline wait for all four warps"},
		{44, "warp_skips", warpSkips, block(384),
			"Role.Regs takes whole groups of warps and adds up"},
		{44, "pool_exceeded", poolExceeded, block(512),
			"Role.Regs takes whole groups of warps and adds up"},
		{45, "warps_left", warpsLeft, block(128), ""},
	}
}

// countMismatch writes the instruction with Ins, because Sync would report it during building.
func countMismatch(k *dsl.Kernel, good bool) {
	threads := 96
	if good {
		threads = 128
	}
	k.Ins("bar.sync", 1, threads) // want "^B1 "
}

// warpsLeft lets the warps from index n on exit, where n is a kernel parameter.
func warpsLeft(k *dsl.Kernel, good bool) {
	n, out, tid := dsl.Param[dsl.U32](k, "n"), dsl.Global[dsl.U32](k, "out"), k.TID().X
	bar := k.NamedBarrier(128)
	k.ReturnIf(k.WarpIndex().GE(n))
	if good {
		k.Sync() // counts those that are left
	} else {
		bar.Sync() // want "^B1 "
	}
	out.Store(tid, tid)
}

// underElect writes the instruction with Ins, because Sync would report it during building.
func underElect(k *dsl.Kernel, good bool) {
	k.If(k.Elect(), func() {
		if !good {
			k.Ins("bar.sync", 0) // want "^B2 "
		}
	})
	if good {
		k.Sync()
	}
	k.NamedBarrier(128).Sync()
}

func idCollision(k *dsl.Kernel, good bool) {
	bar := k.NamedBarrier(64) // one barrier for both roles
	other := bar
	if good {
		other = k.NamedBarrier(64)
	}
	k.Roles(dsl.OnWarps(0, 2, "first", func(u32) {
		bar.Sync()
	}), dsl.OnWarps(2, 2, "second", func(u32) {
		other.Sync() // want "^B3 "
	}))
}

func relaxedArrive(k *dsl.Kernel, good bool) {
	bar, tid := k.SharedBytes("bar", 8, 8), k.TID().X // Kernel.Barrier emits the fence
	first(k, func() {
		k.Ins("mbarrier.init.shared::cta.b64", bar, 2)
		if good {
			k.Ins("fence.mbarrier_init.release.cluster")
		}
	})
	k.Ins("barrier.cluster.arrive.relaxed.aligned") // want "^C2 "
	k.Ins("barrier.cluster.wait.aligned")
	k.If(tid.LTI(2), func() {
		k.Ins("mbarrier.arrive.release.cluster.shared::cluster.b64", dsl.Sink, bar.InBlock(tid))
	})
	wait(k, "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", bar, 0)
	k.SyncCluster()
}

func noSyncAtEntry(k *dsl.Kernel, good bool) {
	x := dsl.Shared[dsl.U32](k, "x", 1)
	peer := k.ClusterRank().XorI(1)
	if good {
		k.SyncCluster()
	}
	first(k, func() {
		x.InBlock(peer).StoreFirst(k.U32(7)) // want "^C3 "
	})
	k.SyncCluster()
}

func noSyncAtExit(k *dsl.Kernel, good bool) {
	x, out := dsl.Shared[dsl.U32](k, "x", 1), dsl.Global[dsl.U32](k, "out")
	k.SyncCluster()
	first(k, func() { x.StoreFirst(k.TID().X) })
	k.SyncCluster()
	y := x.InBlock(k.ClusterRank().XorI(1)).LoadFirst() // want "^C4 "
	out.StoreFirst(y)
	if good {
		k.SyncCluster()
	}
}

// A product is a 64x8 matrix product in registers, made with instructions only, because
// Accumulator.MMA includes the fences and waits of wgmma.
type product struct {
	k    *dsl.Kernel
	tile dsl.SharedTile
	acc  []dsl.Reg[dsl.F32]
}

func newProduct(k *dsl.Kernel) *product {
	p := &product{k: k,
		tile: k.SharedTile("tile",
			dsl.Tile{Type: isa.F16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128})}
	for range 4 {
		p.acc = append(p.acc, k.F32(0).Var())
	}
	return p
}

const wgmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"

// operands returns the operands of wgmma.
func (p *product) operands() []any {
	d := p.tile.Descriptor()
	return []any{dsl.List(p.acc...), d, d, 1, 1, 1, 0, 0}
}

func (p *product) begin()  { p.k.Ins("wgmma.fence.sync.aligned") }
func (p *product) commit() { p.k.Ins("wgmma.commit_group.sync.aligned") }
func (p *product) wait()   { p.k.Ins("wgmma.wait_group.sync.aligned", 0) }

func moveBehindFence(k *dsl.Kernel, good bool) {
	p, out := newProduct(k), dsl.Global[dsl.F32](k, "out")
	args := p.operands()
	add := func() { k.Ins("add.f32", p.acc[0], p.acc[1], float32(1)) }
	if good {
		add()
		p.begin()
	} else {
		p.begin()
		add()
	}
	k.Ins(wgmma, args...) // want "^W1 "
	p.commit()
	p.wait()
	out.Store(k.TID().X, p.acc[0])
}

func earlyEpilogue(k *dsl.Kernel, good bool) {
	p, out := newProduct(k), dsl.Global[dsl.F32](k, "out")
	args := p.operands()
	p.begin()
	k.Ins(wgmma, args...)
	p.commit()
	if good {
		p.wait()
	}
	out.Store(k.TID().X, p.acc[0]) // want "^W2 "
	p.wait()
}

func oneWarpReleases(k *dsl.Kernel, good bool) {
	p, full, empty := newProduct(k), k.Barrier("full", 1), k.Barrier("empty", 1)
	from, out, tid := dsl.Global[dsl.U32](k, "from"), dsl.Global[dsl.F32](k, "out"), k.TID().X
	four := k.NamedBarrier(128)
	k.Roles(dsl.OnWarpgroup(0, "multiply", func() {
		args := p.operands()
		full.Wait(k.U32(0))
		p.begin()
		k.Ins(wgmma, args...)
		p.commit()
		p.wait()
		if good {
			four.Sync()
		}
		k.If(tid.EQI(0), func() {
			empty.Arrive() // want "^W4 "
		})
		out.Store(tid, p.acc[0])
	}), dsl.OnWarp(4, "load", func() {
		k.If(k.Leader(), func() {
			full.ArriveExpect(k.U32(8192))
			k.Ins("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", p.tile.Addr(),
				from.Addr(), 8192, full.Addr())
			empty.Wait(k.U32(0))
		})
	}))
}

func warpSkips(k *dsl.Kernel, good bool) {
	// Role.Regs changes the registers of whole warpgroups only.
	warps := 3
	if good {
		warps = 4
	}
	k.If(k.WarpIndex().GEI(4), func() {
		k.Ins("setmaxnreg.inc.sync.aligned.u32", 208)
	}, func() {
		k.If(k.WarpIndex().LTI(int64(warps)), func() {
			k.Ins("setmaxnreg.dec.sync.aligned.u32", 40) // want "^R2 "
		})
	})
}

func poolExceeded(k *dsl.Kernel, good bool) {
	// Role.Regs checks the sum of the register counts.
	k.If(k.WarpIndex().GEI(4), func() {
		if good {
			k.Ins("setmaxnreg.inc.sync.aligned.u32", 152)
		} else {
			k.Ins("setmaxnreg.inc.sync.aligned.u32", 240) // want "^R4 "
		}
	}, func() {
		k.Ins("setmaxnreg.dec.sync.aligned.u32", 40)
	})
}
