// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package zoo

import "github.com/ptxdsl/ptxdsl/dsl"

func objectTwins() []twin {
	return []twin{
		{15, "count_zero", countZero, block(128), "Barrier takes no count of zero"},
		{16, "made_again", madeAgain, block(128), "no call makes a barrier twice"},
		{17, "tile_over_object", tileOverObject, block(128),
			"Barrier lays objects out apart from tiles"},
		{18, "init_not_fenced", initNotFenced, pair(), "Barrier has the fence"},
		{19, "all_lanes_arrive", allLanesArrive, block(128), ""},
		{20, "too_few", tooFew, block(128), ""},
		{21, "fewer_bytes", fewerBytes, block(128), ""},
		{22, "more_bytes", moreBytes, block(128), ""},
		{23, "expect_no_arrive", expectNoArrive, block(128), "Expect arrives"},
		{24, "not_toggled", notToggled, block(128), ""},
		{25, "producer_parity", producerParity, block(128), ""},
		{26, "no_empty_wait", noEmptyWait, block(128), ""},
		{27, "leader_laps", leaderLaps, block(128), ""},
		{28, "no_drain", noDrain, block(128), ""},
		{29, "cta_scope", ctaScope, pair(), ""},
		{46, "tried_once", triedOnce, block(128), "Wait tries again"},
		{46, "given_up", givenUp, block(128), "Wait tries again"},
	}
}

// A ring is two slots of shared memory that one warp fills and three warps read, with mbarriers for
// both, as Kernel.Pipeline makes them. Here it is built by hand, so that it can contain mistakes.
type ring struct {
	k           *dsl.Kernel
	n           u32
	from, tile  dsl.Array[dsl.U32]
	full, empty dsl.Barrier
}

func newRing(k *dsl.Kernel) *ring {
	return &ring{
		k: k, n: dsl.Param[dsl.U32](k, "n"),
		from: dsl.Global[dsl.U32](k, "from"), tile: dsl.Shared[dsl.U32](k, "tile", 2, 128),
		full: k.Barriers("full", 2, 1), empty: k.Barriers("empty", 2, 96),
	}
}

// turns runs n iterations over the ring. It calls body with the slot and the parity, which starts
// at first.
func (r *ring) turns(first int, flip bool, body func(slot, parity u32)) {
	k := r.k
	slot, parity := k.U32(0).Var(), k.U32(first).Var()
	for range k.Range(k.U32(0), r.n) {
		body(slot, parity)
		slot.Set(slot.AddI(1))
		k.If(slot.EQI(2), func() {
			slot.Set(k.U32(0))
			if flip {
				parity.Set(parity.XorI(1))
			}
		})
	}
}

// load is the role that fills the slots.
func (r *ring) load() {
	k := r.k
	k.If(k.Leader(), func() {
		r.turns(1, true, func(slot, parity u32) {
			r.empty.At(slot).Wait(parity)
			r.fill(slot)
		})
	})
}

// fill starts the copy into a slot.
func (r *ring) fill(slot u32) {
	r.full.At(slot).ArriveExpect(r.k.U32(512))
	r.copy(slot)
}

func (r *ring) copy(slot u32) {
	r.from.BulkLoad(r.tile.At(slot.ShlI(7)), r.k.U32(128), r.full.At(slot))
}

// use reads from a slot.
func (r *ring) use(slot u32) { r.tile.At(slot.ShlI(7)).Load(r.k.TID().X) }

// read is the role that reads the slots.
func (r *ring) read(u32) {
	r.turns(0, true, func(slot, parity u32) {
		r.full.At(slot).Wait(parity)
		r.use(slot)
		r.k.FenceAsync()
		r.empty.At(slot).Arrive()
	})
}

func countZero(k *dsl.Kernel, good bool) {
	bar, count := k.SharedBytes("bar", 8, 8), 0 // Kernel.Barrier does not accept it
	if good {
		count = 128
	}
	first(k, func() {
		k.Ins("mbarrier.init.shared::cta.b64", bar, k.U32(count).Var()) // want "^M1 "
	})
	k.Sync()
	k.Ins("mbarrier.arrive.shared::cta.b64", dsl.Sink, bar)
	wait(k, "mbarrier.try_wait.parity.shared::cta.b64", bar, 0)
}

// wait waits for the phase of a parity with the given instruction.
func wait(k *dsl.Kernel, op string, bar dsl.Addr, parity int) {
	again, done := k.NewLabel("again"), dsl.NewReg[dsl.Pred](k)
	k.PlaceLabel(again)
	k.Ins(op, done, bar, parity)
	k.BranchIf(done.Not(), again)
}

func madeAgain(k *dsl.Kernel, good bool) {
	bar, tid := k.Barrier("bar", 128), k.TID().X
	bar.Arrive()
	bar.Wait(k.U32(0))
	k.Sync()
	first(k, func() {
		if good {
			k.Ins("mbarrier.inval.shared::cta.b64", bar.Addr())
		}
		k.Ins("mbarrier.init.shared::cta.b64", bar.Addr(), 64) // want "^M2 "
	})
	k.Sync()
	k.If(tid.LTI(64), bar.Arrive)
	bar.Wait(k.U32(0))
}

func tileOverObject(k *dsl.Kernel, good bool) {
	// Kernel.Barrier places mbarriers apart from tiles.
	tile, at := dsl.Shared[dsl.U32](k, "tile", 1024), int64(256)
	if good {
		at = 512
	}
	bar := tile.AtI(at).Addr()
	first(k, func() { k.Ins("mbarrier.init.shared::cta.b64", bar, 128) })
	k.Sync()
	tile.Store(k.TID().X.ShlI(2), k.U32(1)) // want "^M2 "
	k.Ins("mbarrier.arrive.shared::cta.b64", dsl.Sink, bar)
	wait(k, "mbarrier.try_wait.parity.shared::cta.b64", bar, 0)
}

func initNotFenced(k *dsl.Kernel, good bool) {
	from, tile := dsl.Global[dsl.U32](k, "from"), dsl.Shared[dsl.U32](k, "tile", 512)
	bar := k.SharedBytes("bar", 8, 8) // Kernel.Barrier emits the fence
	first(k, func() {
		k.Ins("mbarrier.init.shared::cta.b64", bar, 1)
		if good {
			k.Ins("fence.mbarrier_init.release.cluster")
		}
	})
	k.SyncCluster()
	first(k, func() {
		k.Ins("mbarrier.arrive.expect_tx.shared::cta.b64", dsl.Sink, bar, 2048)
		to := tile.At(k.ClusterRank().ShlI(8))
		k.Ins("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", // want "^M3 "
			to.Addr(), from.Addr(), 1024, bar, k.U16(3))
	})
	wait(k, "mbarrier.try_wait.parity.shared::cta.b64", bar, 0)
	k.SyncCluster()
}

func allLanesArrive(k *dsl.Kernel, good bool) {
	bar := k.Barrier("bar", 1)
	k.If(k.WarpIndex().EQI(0), func() {
		if good {
			k.When(k.Elect(), bar.Arrive)
		} else {
			bar.Arrive() // want "^M4 "
		}
	})
	bar.Wait(k.U32(0))
}

func tooFew(k *dsl.Kernel, good bool) {
	bar := k.Barrier("bar", 4) // one arrival per warp
	if good {
		k.If(k.Elect(), bar.Arrive)
	} else {
		k.If(k.WarpIndex().LTI(2), func() { k.If(k.Elect(), bar.Arrive) })
	}
	bar.Wait(k.U32(0)) // want "^M4 "
}

// twoCopies copies 1536 bytes with one mbarrier.
func twoCopies(k *dsl.Kernel, expect func(full dsl.Barrier)) {
	from, tile := dsl.Global[dsl.U32](k, "from"), dsl.Shared[dsl.U32](k, "tile", 512)
	full := k.Barrier("full", 1)
	first(k, func() {
		expect(full)
		from.BulkLoad(tile, k.U32(256), full)
		from.BulkLoad(tile.AtI(256), k.U32(128), full)
	})
	full.Wait(k.U32(0))
}

func fewerBytes(k *dsl.Kernel, good bool) {
	twoCopies(k, func(full dsl.Barrier) {
		if good {
			full.ArriveExpect(k.U32(1024 + 512))
		} else {
			full.ArriveExpect(k.U32(1024)) // want "^M5 "
		}
	})
}

func moreBytes(k *dsl.Kernel, good bool) {
	twoCopies(k, func(full dsl.Barrier) {
		if good {
			full.ArriveExpect(k.U32(1024 + 512))
		} else {
			full.ArriveExpect(k.U32(1024 + 1024)) // want "^M5 "
		}
	})
}

func expectNoArrive(k *dsl.Kernel, good bool) {
	twoCopies(k, func(full dsl.Barrier) {
		if good {
			full.ArriveExpect(k.U32(1536))
		} else {
			k.Ins("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", full.Addr(), 1536) // want "^M5 "
		}
	})
}

func notToggled(k *dsl.Kernel, good bool) {
	r := newRing(k)
	k.Roles(dsl.OnWarp(0, "load", r.load), dsl.OnWarps(1, 3, "use", func(u32) {
		r.turns(0, good, func(slot, parity u32) {
			r.full.At(slot).Wait(parity) // want "^M6 "
			r.use(slot)
			k.FenceAsync()
			r.empty.At(slot).Arrive()
		})
	}))
}

func producerParity(k *dsl.Kernel, good bool) {
	r, parity := newRing(k), 0
	if good {
		parity = 1
	}
	k.Roles(dsl.OnWarps(1, 3, "use", r.read), dsl.OnWarp(0, "load", func() {
		k.If(k.Leader(), func() {
			r.turns(parity, true, func(slot, parity u32) {
				r.empty.At(slot).Wait(parity) // want "^M6 "
				r.fill(slot)
			})
		})
	}))
}

func noEmptyWait(k *dsl.Kernel, good bool) {
	r := newRing(k)
	k.Roles(dsl.OnWarps(1, 3, "use", r.read), dsl.OnWarp(0, "load", func() {
		k.If(k.Leader(), func() {
			r.turns(1, true, func(slot, parity u32) {
				if good {
					r.empty.At(slot).Wait(parity)
				}
				r.full.At(slot).ArriveExpect(k.U32(512)) // want "^M7 "
				r.copy(slot)
			})
		})
	}))
}

func leaderLaps(k *dsl.Kernel, good bool) {
	n, there, back := dsl.Param[dsl.U32](k, "n"), k.Barrier("there", 1), k.Barrier("back", 1)
	k.Roles(dsl.OnWarp(0, "ask", func() {
		for i := range k.Range(k.U32(0), n) {
			k.When(k.Leader(), there.Arrive) // want "^B7 "
			back.Wait(i.AndI(1))
			if good {
				k.SyncWarp()
			}
		}
	}), dsl.OnWarp(1, "answer", func() {
		for i := range k.Range(k.U32(0), n) {
			there.Wait(i.AndI(1))
			k.SyncWarp()
			k.When(k.Leader(), back.Arrive)
		}
	}))
}

func noDrain(k *dsl.Kernel, good bool) {
	n, bar := dsl.Param[dsl.U32](k, "n"), k.Barrier("bar", 1)
	first(k, func() {
		if good {
			bar.Arrive()
		} else {
			k.If(n.NEI(0), bar.Arrive)
		}
	})
	bar.Wait(k.U32(0)) // want "^M11 "
}

func ctaScope(k *dsl.Kernel, good bool) {
	out, x, bar := dsl.Global[dsl.U32](k, "out"), dsl.Shared[dsl.U32](k, "x", 1),
		k.Barrier("bar", 1)
	peer := k.ClusterRank().XorI(1)
	first(k, func() {
		x.InBlock(peer).StoreFirst(k.U32(7))
		bar.ArriveAt(peer)
	})
	if good {
		wait(k, "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", bar.Addr(), 0)
	} else {
		bar.Wait(k.U32(0)) // want "^M9 "
	}
	out.StoreFirst(x.LoadFirst())
	k.SyncCluster()
}

// arrived returns an mbarrier on which the first thread arrives, and shared memory that was written
// before.
func arrived(k *dsl.Kernel) (bar dsl.Barrier, tile dsl.Array[dsl.U32]) {
	bar, tile = k.Barrier("bar", 1), dsl.Shared[dsl.U32](k, "tile", 128)
	tile.Store(k.TID().X, k.U32(7))
	k.Sync()
	first(k, bar.Arrive)
	return bar, tile
}

const try = "mbarrier.try_wait.parity.shared::cta.b64"

func triedOnce(k *dsl.Kernel, good bool) {
	bar, tile := arrived(k)
	if good {
		wait(k, try, bar.Addr(), 0)
	} else {
		k.Ins(try, dsl.NewReg[dsl.Pred](k), bar.Addr(), 0) // want "^M10 "
	}
	dsl.Global[dsl.U32](k, "out").Store(k.TID().X, tile.LoadI(0))
}

func givenUp(k *dsl.Kernel, good bool) {
	bar, tile := arrived(k)
	again, on, done, tries := k.NewLabel("again"), k.NewLabel("on"), dsl.NewReg[dsl.Pred](k),
		k.U32(0).Var()
	k.PlaceLabel(again)
	k.Ins(try, done, bar.Addr(), 0) // want "^M10 "
	k.BranchIf(done, on)
	tries.Set(tries.AddI(1))
	k.BranchIf(tries.LTI(1000), again)
	if good {
		k.Trap()
	}
	k.PlaceLabel(on)
	dsl.Global[dsl.U32](k, "out").Store(k.TID().X, tile.LoadI(0))
}
