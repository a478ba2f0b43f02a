// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A bulkTarget is one destination of a bulk copy: a block, and the mbarrier in it on which the copy
// completes.
type bulkTarget struct {
	region *region
	phase  *phaseState
}

// bulkOperands holds the operands of a bulk copy.
type bulkOperands struct {
	to, from, bar addressRef
	size          ref
	mask          *ref
	bytes         *ref // byte mask, which applies to each 16-byte unit
	left, right   *ref // number of bytes at the start and at the end that are not read
	mbarrier      bool // completes on an mbarrier; otherwise the copy belongs to a group
	pair          bool // the mbarrier is in the block of the CTA pair that its address names
	combine       eval.Combine
	width         uint64 // bytes of one element of a reduction
}

// bulkCopy decodes cp.async.bulk, cp.reduce.async.bulk and bulk copies to a multimem address.
func bulkCopy(d *decoder) (step, error) {
	op := d.operation()
	o := &bulkOperands{mbarrier: op.Has(isa.ModMbarrierCompleteTxBytes)}
	for _, a := range []struct {
		name string
		to   *addressRef
	}{{"to", &o.to}, {"from", &o.from}, {"mbar", &o.bar}} {
		if a.name == "mbar" && !o.mbarrier {
			continue
		}
		var err error
		if *a.to, err = d.addressNamed(a.name); err != nil {
			return nil, err
		}
	}
	size := d.valueNamed("size")
	if size == nil {
		return nil, fmt.Errorf("the size operand of %s is missing", d.in.Op)
	}
	o.size = *size
	if o.mask = d.valueNamed("mask"); o.mask == nil {
		o.mask = d.valueNamed("mask32")
	}
	o.bytes, o.left, o.right = d.valueNamed("bytes"), d.valueNamed("left"), d.valueNamed("right")
	if op.Kind == isa.KindCpReduceAsyncBulk || op.Kind == isa.KindMultimemCpReduceAsyncBulk {
		c, err := d.combineBulk(&op)
		if err != nil {
			return nil, err
		}
		o.combine, o.width = c, uint64(op.Type().Bits()/8)
	}
	to, from := op.Space, op.From
	return func(w *warp, mask uint32) action { return w.bulkCopy(o, to, from, mask) }, nil
}

// checkBulk decodes instructions that name a range of memory and have no effect visible to a
// program, such as prefetches.
func checkBulk(d *decoder) (step, error) {
	name := "a"
	if d.named("from") != nil {
		name = "from"
	}
	at, err := d.addressNamed(name)
	if err != nil {
		return nil, err
	}
	size := d.valueNamed("size")
	return func(w *warp, mask uint32) action {
		v := *w.value(size, &w.scratch[0])
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			n := v[l] & 0xffffffff
			if n%16 != 0 {
				return w.fault(l, nil,
					"size of a bulk operation is %d bytes, expected a multiple of 16", n)
			}
			if !w.locate(&at, 1<<l, &demand{space: isa.Global, size: n, align: 16}) {
				return failed
			}
		}
		return advance
	}, nil
}

// bulkCopy issues the bulk copy of each lane of a mask.
func (w *warp) bulkCopy(o *bulkOperands, to, from isa.Space, mask uint32) action {
	sizes := *w.value(&o.size, &w.scratch[0])
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		lane := uint32(1) << l
		n := sizes[l] & 0xffffffff
		if n%16 != 0 {
			return w.fault(l, nil, "size of a bulk copy is %d bytes, expected a multiple of 16", n)
		}
		left, right, bytes := uint64(0), uint64(0), uint64(1<<16-1)
		if o.left != nil && o.right != nil {
			left, right = w.value(o.left, &w.scratch[1])[l]&0xffffffff,
				w.value(o.right, &w.scratch[2])[l]&0xffffffff
			if left > 15 || right > 15 || left+right > n {
				return w.fault(l, nil,
					"bulk copy of %d bytes ignores %d bytes at the start and %d at the end, expected at most 15 each",
					n, left, right)
			}
		}
		if o.bytes != nil {
			bytes = w.value(o.bytes, &w.scratch[1])[l]
		}
		if !w.locateInner(&o.from, lane, left, n-left-right,
			&demand{space: from, size: n, align: 16, quiet: true}) {
			return failed
		}
		source, at := w.where.regionOf(l), w.where.at[l]
		if !w.locate(&o.to, lane,
			&demand{space: to, size: n, align: 16, write: true, quiet: true}) {
			return failed
		}
		target, off := w.where.regionOf(l), w.where.at[l]
		targets, act := w.bulkTargets(o, l, target)
		if act != advance {
			return act
		}
		e := w.describe(w.cur, l)
		act = w.issue(lane, &w.bulkGroups, w.bulkGroupQueue(o.mbarrier), func(int) *Fault {
			g, running := w.block.grid, w.block.cluster.queue.running
			g.tellRange(running, EventRead, l, source, at, n, ProxyAsync)
			for _, t := range targets {
				g.tellRange(running, writeKind(o.combine), l, t.region, off, n, ProxyAsync)
				if t.region.owner != nil && t.region.owner.alive == 0 && t.region.owner != w.block {
					e.Message = "copy to the shared memory of block " + point(t.region.owner.id) +
						", which has exited"
					return e
				}
				if o.combine != nil {
					if why := w.block.grid.combine(t.region, off, source, at, n, o.width,
						o.combine); why != "" {
						e.Message = why
						return e
					}
				} else {
					copyMasked(t.region, off, source, at, n, left, right, uint16(bytes))
				}
				if t.phase != nil {
					g.tellPhase(running, EventSignal, l, t.phase.owner, t.phase.at)
					if why := t.phase.complete(int64(n)); why != "" {
						e.Message = why
						return e
					}
				}
			}
			return nil
		})
		if act != advance {
			return act
		}
	}
	return advance
}

// locateInner finds the memory of a range of which only n bytes, from offset skip, are accessed.
// The offsets that it stores are those of the start of the range.
func (w *warp) locateInner(a *addressRef, lane uint32, skip, n uint64, q *demand) bool {
	if skip == 0 && n == q.size {
		return w.locate(a, lane, q)
	}
	l := bits.TrailingZeros32(lane)
	base := w.value(&a.base, &w.scratch[7])[l]&a.keep + a.offset
	if base%q.align != 0 {
		w.address[l] = base
		return w.reportMisaligned(lane, q)
	}
	inner := *a
	inner.offset += skip
	part := *q
	part.size, part.align = n, 1
	if !w.locate(&inner, lane, &part) {
		return false
	}
	r := w.where.regionOf(l)
	w.where.region, w.where.at[l] = r, w.where.at[l]-skip
	return true
}

// copyMasked copies n bytes, except for the bytes of each 16-byte unit that are not set in the mask
// bytes, and the given numbers of bytes at the left and right end, which become undefined.
func copyMasked(to *region, at uint64, from *region, off, n, left, right uint64, bytes uint16) {
	if left|right == 0 && bytes == 1<<16-1 {
		copyBytes(to, at, from, off, n)
		return
	}
	for i := range n {
		switch {
		case i < left || i >= n-right:
			if to.init != nil {
				to.init[at+i] = 0
			}
		case bytes>>(i%16)&1 != 0:
			copyBytes(to, at+i, from, off+i, 1)
		}
	}
}

// writeKind returns the kind of event for the write of a copy: EventAtomic for a reduction, which
// also reads the memory, and otherwise EventWrite.
func writeKind(f eval.Combine) EventKind {
	if f != nil {
		return EventAtomic
	}
	return EventWrite
}

// bulkTargets returns the blocks to which the copy of a lane writes.
func (w *warp) bulkTargets(o *bulkOperands, lane int, target *region) ([]bulkTarget, action) {
	list := []bulkTarget{{region: target}}
	var at uint64
	var teller *block
	if o.mbarrier {
		act := w.mbarriers(&o.bar, isa.Shared, 1<<lane, func(l int, p *phaseState) string {
			at = w.where.at[l]
			list[0].phase = p
			teller = w.ownerOf(w.where.regionOf(l))
			return ""
		})
		if act != advance {
			return nil, act
		}
	}
	if o.mask == nil {
		return list, advance
	}
	list = nil
	ranks := w.value(o.mask, &w.scratch[1])[lane] & 0xffff
	for ; ranks != 0; ranks &= ranks - 1 {
		rank := bits.TrailingZeros64(ranks)
		if rank >= len(w.block.cluster.blocks) {
			return nil, w.fault(lane, nil, "multicast to block %d, but the cluster has %d blocks",
				rank, len(w.block.cluster.blocks))
		}
		k := w.block.cluster.blocks[rank]
		p := k.phases[at]
		if o.pair && teller != nil {
			p = w.block.cluster.blocks[uint32(rank)&^1|teller.rank&1].phases[at]
		}
		if p == nil && o.mbarrier {
			return nil, w.fault(lane, nil,
				"mbarrier of block %d of the cluster %s", rank, CauseUninitialized)
		}
		list = append(list, bulkTarget{k.shared, p})
	}
	return list, advance
}

// combineBulk returns the function of a bulk reduction. Sums of f32 keep subnormal numbers, as the
// H100 does.
func (d *decoder) combineBulk(op *isa.Operation) (eval.Combine, error) {
	if op.Has(isa.ModAdd) && op.Type() == isa.F32 {
		return eval.CombineOf(isa.ModAdd, isa.F32, isa.ModNoFTZ)
	}
	return d.combine(op)
}

// combine reduces n bytes into memory, element by element. It returns an error message, or "".
func (g *grid) combine(to *region, at uint64, from *region, off, n, width uint64,
	f eval.Combine) string {
	g.device.ordering.Lock()
	defer g.device.ordering.Unlock()
	if g.checks &&
		(to.init != nil && !allSet(to.init[at:at+n]) || from.init != nil &&
			!allSet(from.init[off:off+n])) {
		return fmt.Sprintf("reduction of %d bytes reads memory that was never written", n)
	}
	for i := uint64(0); i < n; i += width {
		old := read(to.data[at+i:], width)
		put(to.data[at+i:], width, f(old, read(from.data[off+i:], width), 0))
	}
	return ""
}

// bulkGroupQueue returns the list to which a bulk copy is added if it completes through bulk
// groups, or nil if it completes on an mbarrier.
func (w *warp) bulkGroupQueue(mbarrier bool) *[]*operation {
	if mbarrier {
		return nil
	}
	return &w.bulk
}
