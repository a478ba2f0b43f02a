// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
)

// tensorKinds adds the instructions of tensor memory, and other instructions that were introduced
// with them, to the decoder table.
func tensorKinds(to map[isa.Kind]entry) {
	to[isa.KindSetmaxnregInc] = entry{make: setmaxnreg, whole: true}
	to[isa.KindSetmaxnregDec] = entry{make: setmaxnreg, whole: true}
	to[isa.KindClusterlaunchcontrolTryCancelAsync] = entry{make: tryCancel}
	to[isa.KindClusterlaunchcontrolQueryCancel] = entry{make: queryCancel}
	to[isa.KindTcgen05Alloc] = entry{make: tensorAlloc, whole: true}
	to[isa.KindTcgen05Dealloc] = entry{make: tensorDealloc, whole: true}
	to[isa.KindTcgen05RelinquishAllocPermit] = entry{make: tensorRelinquish, whole: true}
	to[isa.KindTcgen05Ld] = entry{make: tensorLoad, whole: true}
	to[isa.KindTcgen05LdRed] = entry{make: tensorLoad, whole: true}
	to[isa.KindTcgen05St] = entry{make: tensorStore, whole: true}
	to[isa.KindTcgen05WaitLd] = entry{make: tensorWait, whole: true}
	to[isa.KindTcgen05WaitSt] = entry{make: tensorWait, whole: true}
	to[isa.KindTcgen05FenceBeforeThreadSync] = entry{make: tensorFence}
	to[isa.KindTcgen05FenceAfterThreadSync] = entry{make: tensorFence}
	to[isa.KindTcgen05Cp] = entry{make: tensorFill}
	to[isa.KindTcgen05Shift] = entry{make: tensorShift}
	to[isa.KindTcgen05Commit] = entry{make: tensorCommit}
	later := []isa.Mod{isa.ModDecompressLutB}
	to[isa.KindTcgen05Mma] = entry{make: tensorMMA, without: later}
	to[isa.KindTcgen05MmaWs] = entry{make: tensorMMA, without: later}
}

// A tensorGroup specifies whether an instruction acts on one block or on both blocks of a pair.
type tensorGroup struct{ pair bool }

// tensorGroup decodes .cta_group.
func (d *decoder) tensorGroup() tensorGroup {
	op := d.operation()
	return tensorGroup{op.Has(isa.ModCTAGroup2)}
}

// blocks returns the blocks that an instruction acts on. A kernel must use the same group
// throughout.
func (g tensorGroup) blocks(w *warp) ([]*block, string) {
	b := w.block
	want := uint8(1)
	if g.pair {
		want = 2
	}
	if b.tensorGroup != 0 && b.tensorGroup != want {
		return nil, fmt.Sprintf(
			"tcgen05 instruction has cta_group::%d after one with cta_group::%d; a kernel must use only one of them",
			want, b.tensorGroup)
	}
	b.tensorGroup = want
	all := b.cluster.blocks
	if !g.pair {
		return all[b.rank : b.rank+1], ""
	}
	first := int(b.rank &^ 1)
	if first+2 > len(all) {
		return nil, fmt.Sprintf(
			"cta_group::2 is used in a cluster of %d blocks, but this block has no peer", len(all))
	}
	return all[first : first+2], ""
}

// running is blocks for instructions that require the peer block to be running.
func (g tensorGroup) running(w *warp) ([]*block, string) {
	list, why := g.blocks(w)
	if why == "" {
		why = w.peerEnded(list)
	}
	return list, why
}

// peerEnded returns an error for a pair whose other block has exited.
func (w *warp) peerEnded(blocks []*block) string {
	for _, b := range blocks {
		if b != w.block && b.alive == 0 {
			return fmt.Sprintf("cta_group::2, but the peer block %s has exited", point(b.id))
		}
	}
	return ""
}

// uniform returns the value of an operand that must be the same in all lanes. ok is false after a
// fault.
func (w *warp) uniform(r *ref, mask uint32, what string) (uint32, bool) {
	v := w.value(r, &w.scratch[0])
	first := v[bits.TrailingZeros32(mask)]
	for m := mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); uint32(v[l]) != uint32(first) {
			w.fault(l, nil, "%s differs between the lanes of a warp: 0x%x and 0x%x", what,
				uint32(first), uint32(v[l]))
			return 0, false
		}
	}
	return uint32(first), true
}

// pointer returns the value of an address operand in one lane.
func (w *warp) pointer(a *addressRef, lane int) uint32 {
	return uint32(w.value(&a.base, &w.scratch[7])[lane]&a.keep + a.offset)
}

// meetPeer makes a warp of a block pair wait until the corresponding warp of the other block
// reaches the same collective instruction. If the result is not advance, the step must return it;
// the step runs again when the wait is over.
func (w *warp) meetPeer(blocks []*block, columns int) action {
	if len(blocks) == 1 {
		return advance
	}
	t := w.block.tensor()
	if w.pairSerial == 0 {
		t.requested++
		t.columns = columns
		w.pairSerial = t.requested
		w.block.changes++
	}
	peer, serial := w.block.cluster.blocks[w.block.rank^1], w.pairSerial
	if peer.tensor().requested < serial {
		if why := w.peerEnded(blocks); why != "" {
			return w.fault(-1, nil, "%s", why)
		}
		return w.park(waitsCompletion, wait{
			note: func() string {
				return "waits for the same instruction in the other block of its pair"
			},
			met: func() bool { return peer.tensor().requested >= serial },
		})
	}
	if peer.tensor().requested == serial && peer.tensor().columns != columns {
		return w.fault(-1, nil,
			"tcgen05.alloc allocates %d columns here, but %d in the other block of the pair",
			columns, peer.tensor().columns)
	}
	return advance
}

// tensorAlloc decodes tcgen05.alloc.
func tensorAlloc(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	number, group := d.reads()[0], d.tensorGroup()
	exclusive := op.Has(isa.ModExclusive)
	q := demand{space: op.Space, size: 4, align: 4, write: true}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		mask := w.cur.mask
		blocks, why := group.blocks(w)
		if why != "" {
			return w.fault(-1, nil, "%s", why)
		}
		columns, ok := w.uniform(&number, mask, "the number of columns")
		if !ok || !w.locate(&at, mask&-mask, &q) {
			return failed
		}
		lane := bits.TrailingZeros32(mask)
		if w.ownerOf(w.where.regionOf(lane)) == nil {
			return w.fault(lane, nil,
				"tcgen05.alloc stores the address to memory that is not shared memory")
		}
		n, t := int(columns), w.block.tensor()
		if why := t.mayTake(n, exclusive); why != "" {
			return w.fault(-1, nil, "%s", why)
		}
		if act := w.meetPeer(blocks, n); act != advance {
			return act
		}
		base, ok := t.find(n)
		if !ok {
			return w.park(waitsCompletion, wait{
				note: func() string {
					return fmt.Sprintf("waits for %d columns of tensor memory; %s", n, t)
				},
				met: func() bool { _, ok := t.find(n); return ok },
			})
		}
		w.pairSerial = 0
		t.take(tensorRange{base, n, w.command()})
		r, off := w.where.regionOf(lane), w.where.at[lane]
		put(r.data[off:], 4, uint64(base))
		fill(r.init[off:off+4], 0xff)
		w.block.changes++
		w.tell(EventTensor, mask, &op)
		return advance
	}, nil
}

// mayTake returns the reason why an allocation of n columns is not allowed, or "".
func (t *tensorMemory) mayTake(n int, exclusive bool) string {
	switch {
	case n < tensorUnit || n > tensorColumns || n%tensorUnit != 0 || !exclusive && n&(n-1) != 0:
		return fmt.Sprintf(
			"tcgen05.alloc allocates %d columns, expected a power of two from 32 to 512", n)
	case t.gaveUp:
		return string(CauseAllocRelinquished)
	case t.last != 0 && n > t.last:
		return fmt.Sprintf(
			"tcgen05.alloc allocates %d columns after an allocation of %d; a later allocation must not be larger",
			n, t.last)
	}
	return ""
}

// tensorDealloc decodes tcgen05.dealloc.
func tensorDealloc(d *decoder) (step, error) {
	args, group := d.reads(), d.tensorGroup()
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		mask := w.cur.mask
		blocks, why := group.blocks(w)
		if why != "" {
			return w.fault(-1, nil, "%s", why)
		}
		at, ok := w.uniform(&args[0], mask, "the address")
		if !ok {
			return failed
		}
		n, ok := w.uniform(&args[1], mask, "the number of columns")
		if !ok {
			return failed
		}
		if act := w.meetPeer(blocks, int(n)); act != advance {
			return act
		}
		w.pairSerial = 0
		t := w.block.tensor()
		if laneOf(at) != 0 || !t.drop(columnOf(at), int(n)) {
			return w.fault(-1, nil,
				"deallocation of %d columns at tensor memory address 0x%x %s; %s", n, at,
				CauseDealloc, t)
		}
		w.block.changes++
		w.tellRelease(mask, at, n)
		return advance
	}, nil
}

// tellRelease reports to observers that columns are deallocated.
func (w *warp) tellRelease(mask, at, columns uint32) {
	if !w.observing() {
		return
	}
	e := w.event(EventTensor, mask)
	e.Size = uint64(4 * columns)
	for l := range e.At {
		e.At[l] = Address{isa.Tensor, uint32(w.block.number()), uint64(at)}
	}
	w.block.grid.observer.Observe(e)
}

// tensorFence decodes tcgen05.fence. The emulator needs no action, because it does not reorder what
// the fence orders.
func tensorFence(*decoder) (step, error) {
	return func(w *warp, mask uint32) action {
		w.tell(EventTensor, mask, nil)
		return advance
	}, nil
}

// tensorRelinquish decodes tcgen05.relinquish_alloc_permit.
func tensorRelinquish(d *decoder) (step, error) {
	group := d.tensorGroup()
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		if _, why := group.blocks(w); why != "" {
			return w.fault(-1, nil, "%s", why)
		}
		w.block.tensor().gaveUp = true
		return advance
	}, nil
}
