// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A bulkTarget is a block that a bulk copy writes to, and the mbarrier that it tells.
type bulkTarget struct {
	region *region
	phase  *phaseState
}

// bulkOperands are the operands of a bulk copy.
type bulkOperands struct {
	to, from, bar addressRef
	size          ref
	mask          *ref
	told          bool // an mbarrier is told; otherwise the copy is part of a group
	pair          bool // the mbarrier is that of the block of the pair that its address names
	combine       eval.Combine
	width         uint64 // bytes of an element that is combined
}

// bulkCopy decodes cp.async.bulk and cp.reduce.async.bulk.
func bulkCopy(d *decoder) (step, error) {
	op := d.operation()
	o := &bulkOperands{told: op.Has(isa.ModMbarrierCompleteTxBytes)}
	args := d.reads()
	if op.Has(isa.ModL2CacheHint) {
		args = args[:len(args)-1]
	}
	extra := len(args) - 1
	if op.Has(isa.ModMulticastCluster) && extra == 1 {
		o.mask = &args[1]
		extra--
	}
	if extra != 0 {
		d.fail(d.in.Op + " with these operands is not emulated yet")
	}
	o.size = args[0]
	addresses := []*addressRef{&o.to, &o.from, &o.bar}
	for i := range 2 + count(o.told) {
		a, err := d.address(i)
		if err != nil {
			return nil, err
		}
		*addresses[i] = a
	}
	if op.Kind == isa.KindCpReduceAsyncBulk {
		c, err := d.combine(&op)
		if err != nil {
			return nil, err
		}
		o.combine, o.width = c, uint64(op.Type().Bits()/8)
	}
	to, from := op.Space, op.From
	return func(w *warp, mask uint32) action { return w.bulkCopy(o, to, from, mask) }, nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bulkCopy issues the copies of the lanes of a mask.
func (w *warp) bulkCopy(o *bulkOperands, to, from isa.Space, mask uint32) action {
	sizes := *w.value(&o.size, &w.scratch[0])
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		lane := uint32(1) << l
		n := sizes[l] & 0xffffffff
		if n%16 != 0 {
			return w.fault(l, nil, "a bulk copy of %d bytes; they are a multiple of 16", n)
		}
		if !w.locate(&o.from, lane, &demand{space: from, size: n, align: 16, quiet: true}) {
			return failed
		}
		source, at := w.where.of(l), w.where.at[l]
		if !w.locate(&o.to, lane, &demand{space: to, size: n, align: 16, write: true, quiet: true}) {
			return failed
		}
		target, off := w.where.of(l), w.where.at[l]
		targets, act := w.bulkTargets(o, l, target)
		if act != advance {
			return act
		}
		e := w.describe(w.cur, l)
		act = w.issue(lane, &w.bulkGroups, w.grouped(o.told), func(int) *Fault {
			g, running := w.block.grid, w.block.cluster.queue.running
			g.tellRange(running, EventRead, l, source, at, n, ProxyAsync)
			for _, t := range targets {
				g.tellRange(running, writeKind(o.combine), l, t.region, off, n, ProxyAsync)
				if o.combine != nil {
					w.block.grid.combine(t.region, off, source, at, n, o.width, o.combine)
				} else {
					copyBytes(t.region, off, source, at, n)
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

// writeKind returns the kind of event of what a copy writes: a reduction reads it too.
func writeKind(f eval.Combine) EventKind {
	if f != nil {
		return EventAtomic
	}
	return EventWrite
}

// bulkTargets returns the blocks that a copy of a lane writes to.
func (w *warp) bulkTargets(o *bulkOperands, lane int, target *region) ([]bulkTarget, action) {
	list := []bulkTarget{{region: target}}
	var at uint64
	var teller *block
	if o.told {
		act := w.mbarriers(&o.bar, isa.Shared, 1<<lane, func(l int, p *phaseState) string {
			at = w.where.at[l]
			list[0].phase = p
			teller = w.ownerOf(w.where.of(l))
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
			return nil, w.fault(lane, nil, "multicast to block %d of a cluster of %d", rank, len(w.block.cluster.blocks))
		}
		k := w.block.cluster.blocks[rank]
		p := k.phases[at]
		if o.pair && teller != nil {
			p = w.block.cluster.blocks[uint32(rank)&^1|teller.rank&1].phases[at]
		}
		if p == nil && o.told {
			return nil, w.fault(lane, nil, "mbarrier of block %d of the cluster is used but never initialized", rank)
		}
		list = append(list, bulkTarget{k.shared, p})
	}
	return list, advance
}

// combine combines bytes into memory, element by element.
func (g *grid) combine(to *region, at uint64, from *region, off, n, width uint64, f eval.Combine) {
	g.device.ordering.Lock()
	defer g.device.ordering.Unlock()
	for i := uint64(0); i < n; i += width {
		old := read(to.data[at+i:], width)
		put(to.data[at+i:], width, f(old, read(from.data[off+i:], width), 0))
	}
}

// grouped returns the list of copies that groups hold, nil for a copy that tells an mbarrier.
func (w *warp) grouped(told bool) *[]*operation {
	if told {
		return nil
	}
	return &w.bulk
}
