// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"iter"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A DynamicSchedule assigns tiles to blocks in hardware, with cluster launch control (sm_100).
// The grid has one block per tile, and a block that has finished its tile takes over one that has
// not started. This balances tiles of different cost, and lets the hardware run blocks of another
// kernel between two tiles. See PTX ISA 9.1, section 9.7.13.17.
type DynamicSchedule struct {
	ring
	rows, cols Reg[U32] // number of tiles
	group      int
	responses  Addr // cluster launch control responses, 16 bytes per stage
}

// DynamicSchedule returns a schedule over the given rows and columns of tiles, in the order of
// Persistent. One role of one warp must call RunScheduler; every role that works on tiles loops
// over Each. The grid must have one block per tile along x, after the number of rows is rounded up
// to a multiple of the cluster size.
func (k *Kernel) DynamicSchedule(rows, cols Reg[U32], group int) *DynamicSchedule {
	k = k.sound()
	if !k.m.Has(100) {
		k.fault(&ruleLacks,
			"%s does not support cluster launch control, which needs sm_100; use Persistent",
			k.m.Target())
	}
	group = k.checkGroup(group)
	const stages = 2 // one response is processed while the next is requested
	return &DynamicSchedule{ring: k.newRing(unique("tiles", k.names), stages), rows: rows,
		cols: cols, group: group,
		responses: k.SharedBytes(unique("answers", k.names), 16*stages, 16)}
}

// RunScheduler requests tiles until none is left, and passes them to the other roles. One role of
// one warp must call it, and do nothing else.
func (d *DynamicSchedule) RunScheduler() {
	if d == nil || d.k == nil {
		return
	}
	k := d.k
	if k.role == nil {
		k.fault(&ruleProtocol,
			"RunScheduler is called outside of a role; it needs a role of one warp that does nothing else")
		return
	}
	k.role.single = true
	state, leader := d.state(1), k.Leader()
	k.Loop(func() {
		full, empty := d.barriers(state)
		at := d.responseAddr(state)
		ask := func() {
			k.ins("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128", at.in(k), full.at.in(k))
		}
		if k.clusterSize() == 1 {
			empty.Wait(state.parity)
			// one thread continues for the warp, and the other threads must not miss the phase
			k.SyncWarp()
			k.When(leader, func() {
				full.ArriveExpect(k.U32(16))
				ask()
			})
		} else {
			ask = func() {
				k.ins("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128", at.in(k), full.at.in(k))
			}
			k.SyncWarp()
			k.Comment("the first block requests work for the cluster, and every block receives the response")
			k.When(leader, func() { full.ArriveExpect(k.U32(16)) })
			k.If(k.ClusterRank().EQI(0), func() {
				empty.WaitCluster(state.parity)
				k.When(leader, ask)
			})
		}
		full.Wait(state.parity.XorI(1))
		_, more := d.queryResponse(at)
		// the next response is written through the async proxy, after this read of the previous
		// one
		k.FenceAsync()
		if size := k.clusterSize(); size > 1 {
			k.SyncWarp()
			k.Comment("the first block sends the next request after this block has read the response")
			k.When(leader, func() { empty.ArriveAt(k.U32(0)) })
			d.countArrivals(d.empty, size)
		}
		state.next(&d.ring)
		k.BreakIf(more.Not())
	})
}

// Each returns a loop over the tiles that the block receives.
func (d *DynamicSchedule) Each() iter.Seq[TileCoord] {
	return func(yield func(TileCoord) bool) {
		if d == nil || d.k == nil {
			return
		}
		k := d.k
		size := int64(k.clusterSize())
		rows := d.rows
		if high, wide := k.clusterTiles(); wide > 1 {
			k.fault(&ruleProtocol,
				"DynamicSchedule is used in a cluster of %d x %d blocks, expected one dimension; use Persistent",
				high, wide)
		}
		if size > 1 {
			rows = rows.CeilDiv(size)
		}
		state := d.state(0)
		id := k.CTAID().X.DivI(size).Var()
		k.Loop(func() {
			at := groupedTile(id, rows, d.cols, d.group)
			if size > 1 {
				at.Row = at.Row.MadI(size, k.ClusterRank())
			}
			if !yield(at) {
				k.fault(&ruleLoop,
					"Go break or return leaves the body of Each, which is built only once")
			}
			full, empty := d.barriers(state)
			full.Wait(state.parity)
			next, more := d.queryResponse(d.responseAddr(state))
			// the next response is written through the async proxy, after this read of the
			// previous one
			k.FenceAsync()
			k.SyncWarp()
			arrive := empty.Arrive
			if size > 1 {
				arrive = func() { empty.ArriveAt(k.U32(0)) }
			}
			k.When(k.Leader(), arrive)
			d.countArrivals(d.empty, d.arrivals())
			state.next(&d.ring)
			id.Set(next.DivI(size))
			k.BreakIf(more.Not())
		})
	}
}

// arrivals returns the number of arrivals on the empty mbarrier per response, over the cluster,
// by the role that is being built. Each of its warps arrives once.
func (d *DynamicSchedule) arrivals() int {
	k := d.k
	warps := k.roleWarps()
	switch {
	case k.role == nil:
		return warps * k.clusterSize()
	case k.role.single:
		warps = 1
	}
	if k.role.even {
		return warps * k.clusterSize() / 2
	}
	return warps * k.clusterSize()
}

// responseAddr returns the address of the response in a stage.
func (d *DynamicSchedule) responseAddr(at *place) Addr { return d.responses.add(at.stage.ShlI(4)) }

// queryResponse returns the x index of the first block of the canceled cluster, and whether a
// cluster was canceled.
func (d *DynamicSchedule) queryResponse(at Addr) (first Reg[U32], more Reg[Pred]) {
	k := d.k
	answer := ir.Operand{Kind: ir.Register, Reg: k.newReg(isa.B128)}
	k.ins("ld.shared.b128", answer, at.in(k))
	more, first = fresh[Pred](k), fresh[U32](k)
	k.ins("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", more.in(k), answer)
	k.When(more, func() {
		k.ins("clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128", first.in(k), answer)
	})
	return first, more
}
