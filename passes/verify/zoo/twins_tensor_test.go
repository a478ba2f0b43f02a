// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package zoo

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

func tensorTwins() []twin {
	return []twin{
		{39, "address_race", addressRace, block(128), "TMEM has the barrier"},
		{40, "early_out", earlyOut, block(128), "TMEM gives the columns back"},
		{41, "freed_early", freedEarly, block(128), "TMEM has the barrier"},
		{42, "pair_no_sync", pairNoSync, pair(), "Pair has the barrier"},
		{43, "wait_ld_missing", waitLdMissing, block(256), "TMEM has waits and fences"},
		{43, "wait_st_missing", waitStMissing, block(256), "TMEM has waits and fences"},
		{43, "fence_after_missing", fenceAfterMissing, block(256), "TMEM has waits and fences"},
		{43, "fence_before_missing", fenceBeforeMissing, block(256), "TMEM has waits and fences"},
	}
}

// Columns are 64 columns of tensor memory. The first warp allocates and frees them with
// instructions only, because Kernel.TMEM includes barriers and fences.
type columns struct {
	k     *dsl.Kernel
	slot  dsl.Array[dsl.U32]
	base  u32
	group string
}

// take lets the first warp allocate the columns.
func take(k *dsl.Kernel, group string) *columns {
	c := &columns{k: k, slot: dsl.Shared[dsl.U32](k, "slot", 1), group: group}
	k.If(k.WarpIndex().EQI(0), func() {
		k.Ins("tcgen05.alloc."+group+".sync.aligned.shared::cta.b32", c.slot.Addr(), 64)
		k.Ins("tcgen05.relinquish_alloc_permit." + group + ".sync.aligned")
	})
	return c
}

// meet is a barrier of the block between thread fences.
func meet(k *dsl.Kernel) {
	k.Ins("tcgen05.fence::before_thread_sync")
	k.Sync()
	k.Ins("tcgen05.fence::after_thread_sync")
}

// row returns the address of the rows that a warp can access.
func (c *columns) row() dsl.Addr {
	return tensorAddr(c.base.Add(c.k.WarpIndex().AndI(3).ShlI(21)))
}

// tensorAddr returns an address in tensor memory.
func tensorAddr(x u32) dsl.Addr { return dsl.At(x, 0) }

// store and load access the tensor memory.
func (c *columns) store() {
	c.k.Ins("tcgen05.st.sync.aligned.32x32b.x1.b32", c.row(), dsl.List(c.k.TID().X))
}

func (c *columns) load() u32 {
	x := dsl.NewReg[dsl.U32](c.k)
	c.k.Ins("tcgen05.ld.sync.aligned.32x32b.x1.b32", dsl.List(x), c.row())
	return x
}

func (c *columns) stored() { c.k.Ins("tcgen05.wait::st.sync.aligned") }
func (c *columns) loaded() { c.k.Ins("tcgen05.wait::ld.sync.aligned") }

// roundTrip stores to tensor memory, loads the values back, and stores them to global memory.
func (c *columns) roundTrip() {
	c.store()
	c.stored()
	x := c.load()
	c.loaded()
	dsl.Global[dsl.U32](c.k, "out").Store(c.k.TID().X, x)
}

// free lets the first warp free the columns.
func (c *columns) free() {
	c.k.If(c.k.WarpIndex().EQI(0), func() {
		c.k.Ins("tcgen05.dealloc."+c.group+".sync.aligned.b32", c.base, 64)
	})
}

func addressRace(k *dsl.Kernel, good bool) {
	c := take(k, "cta_group::1")
	if good {
		meet(k)
	}
	c.base = c.slot.LoadI(0) // want "^T2 "
	if !good {
		meet(k)
	}
	c.roundTrip()
	meet(k)
	c.free()
}

func earlyOut(k *dsl.Kernel, good bool) {
	n, out := dsl.Param[dsl.U32](k, "n"), dsl.Global[dsl.U32](k, "out")
	slot := dsl.Shared[dsl.U32](k, "slot", 1)
	k.If(k.WarpIndex().EQI(0), func() {
		k.Ins("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", slot.Addr(), 64) // want "^T3 "
		k.Ins("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned")
	})
	meet(k)
	c := &columns{k: k, base: slot.LoadI(0), group: "cta_group::1"}
	if !good {
		k.ReturnIf(n.EQI(0))
	}
	k.If(n.NEI(0), func() {
		c.store()
		c.stored()
		x := c.load()
		c.loaded()
		out.Store(k.TID().X, x)
	})
	meet(k)
	c.free()
}

func freedEarly(k *dsl.Kernel, good bool) {
	c := take(k, "cta_group::1")
	meet(k)
	c.base = c.slot.LoadI(0)
	if good {
		c.roundTrip()
		meet(k)
	} else {
		k.If(k.WarpIndex().NEI(0), c.roundTrip)
	}
	k.If(k.WarpIndex().EQI(0), func() {
		k.Ins("tcgen05.dealloc.cta_group::1.sync.aligned.b32", c.base, 64) // want "^T4 "
	})
}

func pairNoSync(k *dsl.Kernel, good bool) {
	slot := dsl.Shared[dsl.U32](k, "slot", 1)
	if good {
		k.SyncCluster()
	}
	k.If(k.WarpIndex().EQI(0), func() {
		k.Ins("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32", slot.Addr(), 64) // want "^T5 "
		k.Ins("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned")
	})
	meet(k)
	c := &columns{k: k, base: slot.LoadI(0), group: "cta_group::2"}
	c.roundTrip()
	k.Ins("tcgen05.fence::before_thread_sync")
	k.SyncCluster()
	c.free()
}

// handOver lets a group of warps move data between registers and tensor memory and signal another
// warp. That warp multiplies into the same columns and waits until that is done.
func handOver(k *dsl.Kernel, move func(c *columns, moved dsl.Barrier),
	multiply func(c *columns, moved dsl.Barrier, d dsl.Reg[dsl.U64])) {
	moved, done := k.Barrier("moved", 128), k.Barrier("done", 1)
	tile := k.SharedTile("tile",
		dsl.Tile{Type: isa.F16, Rows: 128, Cols: 64, Swizzle: dsl.Swizzle128})
	c := take(k, "cta_group::1")
	meet(k)
	c.base = c.slot.LoadI(0)
	k.Roles(dsl.OnWarpgroup(1, "move", func() { move(c, moved) }),
		dsl.OnWarp(0, "multiply", func() {
			multiply(c, moved, tile.Descriptor())
			k.When(k.Leader(), func() {
				k.Ins("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
					done.Addr())
			})
			done.Wait(k.U32(0))
			k.Ins("tcgen05.fence::after_thread_sync")
		}))
	meet(k)
	c.free()
}

const tcgen05 = "tcgen05.mma.cta_group::1.kind::f16"

// multiply waits for the other role, and multiplies.
func multiply(c *columns, moved dsl.Barrier, d dsl.Reg[dsl.U64]) {
	k := c.k
	moved.Wait(k.U32(0))
	k.SyncWarp()
	k.Ins("tcgen05.fence::after_thread_sync")
	k.When(k.Leader(), func() { k.Ins(tcgen05, tensorAddr(c.base), d, d, k.U32(0x8100010), 1) })
}

func waitLdMissing(k *dsl.Kernel, good bool) {
	handOver(k, func(c *columns, moved dsl.Barrier) {
		c.load()
		if good {
			c.loaded()
		}
		k.Ins("tcgen05.fence::before_thread_sync")
		moved.Arrive() // want "^T8 "
		c.loaded()
	}, multiply)
}

func waitStMissing(k *dsl.Kernel, good bool) {
	handOver(k, func(c *columns, moved dsl.Barrier) {
		c.store()
		if good {
			c.stored()
		}
		k.Ins("tcgen05.fence::before_thread_sync")
		moved.Arrive() // want "^T8 "
		c.stored()
	}, multiply)
}

func fenceBeforeMissing(k *dsl.Kernel, good bool) {
	handOver(k, func(c *columns, moved dsl.Barrier) {
		c.load()
		c.loaded()
		if good {
			k.Ins("tcgen05.fence::before_thread_sync")
		}
		moved.Arrive() // want "^T9 "
	}, multiply)
}

func fenceAfterMissing(k *dsl.Kernel, good bool) {
	handOver(k, func(c *columns, moved dsl.Barrier) {
		c.load()
		c.loaded()
		k.Ins("tcgen05.fence::before_thread_sync")
		moved.Arrive()
	}, func(c *columns, moved dsl.Barrier, d dsl.Reg[dsl.U64]) {
		moved.Wait(k.U32(0))
		k.SyncWarp()
		if good {
			k.Ins("tcgen05.fence::after_thread_sync")
		}
		k.When(k.Leader(), func() {
			k.Ins(tcgen05, tensorAddr(c.base), d, d, k.U32(0x8100010), 1) // want "^T9 "
		})
	})
}
