// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// A tensorSpread specifies to which lanes tcgen05.cp copies the rows of a matrix.
type tensorSpread struct {
	rows, units int                 // units are 16 bytes
	lanes       func(row int) []int // lanes that receive a row
}

// tensorSpreadOf returns the tensorSpread of an instruction.
func tensorSpreadOf(op *isa.Operation) tensorSpread {
	one := func(row int) []int { return []int{row} }
	switch {
	case op.Has(isa.ModShape128x256b):
		return tensorSpread{128, 2, one}
	case op.Has(isa.ModShape128x128b):
		return tensorSpread{128, 1, one}
	case op.Has(isa.ModShape4x256b): // the first lane of each quarter
		return tensorSpread{4, 2, func(row int) []int { return []int{32 * row} }}
	case op.Has(isa.ModWarpX2Pairs02And13):
		return tensorSpread{64, 1, func(row int) []int { return []int{row, row + 64} }}
	case op.Has(isa.ModWarpX2Pairs01And23):
		return tensorSpread{64, 1,
			func(row int) []int { return []int{row/32*64 + row%32, row/32*64 + row%32 + 32} }}
	}
	return tensorSpread{32, 1,
		func(row int) []int { return []int{row, row + 32, row + 64, row + 96} }}
}

// tensorFill decodes tcgen05.cp. Each block of the group copies from its shared memory to its
// tensor memory.
func tensorFill(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	from, group, spread := d.reads()[0], d.tensorGroup(), tensorSpreadOf(&op)
	expands := 0
	switch {
	case op.Has(isa.ModB4x16P64):
		expands = 4
	case op.Has(isa.ModB6x16P32):
		expands = 6
	}
	return group.onBlocks(func(w *warp, l int) (func(b *block) string, action) {
		matrix, err := tensorcore.DecodeBlackwell(w.value(&from, &w.scratch[0])[l])
		if err != nil {
			return nil, w.fault(l, nil, "%v", err)
		}
		address := w.pointer(&at, l)
		return func(b *block) string { return spread.copy(b, &matrix, address, expands) }, advance
	}), nil
}

// onBlocks returns the step of a tcgen05 operation that each lane issues. When the operation
// completes, it runs on each block of the group. prepare reads the operands of a lane when the
// operation is issued.
func (g tensorGroup) onBlocks(
	prepare func(w *warp, l int) (run func(b *block) string, act action)) step {
	return func(w *warp, mask uint32) action {
		blocks, why := g.running(w)
		if why != "" {
			return w.fault(-1, nil, "%s", why)
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			run, act := prepare(w, l)
			if act != advance {
				return act
			}
			act = w.issueTensor(l, func() string {
				for _, b := range blocks {
					if why := run(b); why != "" {
						return why
					}
				}
				return ""
			})
			if act != advance {
				return act
			}
		}
		return advance
	}
}

// copy copies the rows of one block. It returns an error message, or "".
func (s *tensorSpread) copy(b *block, m *tensorcore.Matrix, address uint32, expands int) string {
	t := b.tensor()
	var unit [16]byte
	need := 16
	if expands > 0 {
		need = 2 * expands
	}
	for row := range s.rows {
		for i := range s.units {
			if err := b.unit(m.AlongK(row, i*16), &unit, need, "tcgen05.cp"); err != nil {
				return err.Error()
			}
			if expands > 0 {
				unit = tensorcore.Expand(unit, expands)
			}
			for _, lane := range s.lanes(row) {
				cells, known, why := t.row(lane+laneOf(address), columnOf(address)+i*4, 4)
				if why != "" {
					return why
				}
				b.tellTensor(EventWrite, lane+laneOf(address), columnOf(address)+i*4, 4)
				for j := range cells {
					cells[j] = little.Uint32(unit[4*j:])
				}
				fill(known, 0xff)
			}
		}
	}
	return ""
}

// unit reads 16 bytes of the block's shared memory for a tensor core. Only the first need bytes
// must be initialized, because the remaining bytes may be padding.
func (b *block) unit(address uint32, to *[16]byte, need int, who string) error {
	at, r := uint64(address)&(1<<18-1), b.shared
	if at < sharedStart || at+16 > uint64(len(r.data)) {
		return fmt.Errorf("access out of bounds: %s reads 16 bytes at shared address 0x%x", who, at)
	}
	if g := b.grid; g.checks && r.init != nil && !allSet(r.init[at:at+uint64(need)]) {
		return fmt.Errorf("%s reads shared memory at 0x%x that was never written", who, at)
	}
	if g := b.grid; g.observer != nil {
		b.tellUnit(r, at)
	}
	*to = [16]byte(r.data[at:])
	return nil
}

// tellUnit reports that the current operation reads 16 bytes.
func (b *block) tellUnit(r *region, at uint64) {
	o := b.cluster.queue.running
	if o == nil || !o.hidden {
		b.grid.tellRange(o, EventRead, 0, r, at, 16, ProxyAsync)
		return
	}
	for _, x := range o.parts {
		b.grid.tellRange(x, EventRead, 0, r, at, 16, ProxyAsync)
	}
}

// tensorShift decodes tcgen05.shift, which moves 32 bytes of each row of a warp, except the last,
// down by one row.
func tensorShift(d *decoder) (step, error) {
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	return d.tensorGroup().onBlocks(func(w *warp, l int) (func(b *block) string, action) {
		address := w.pointer(&at, l)
		if laneOf(address)%32 != 0 {
			return nil, w.fault(l, nil,
				"tcgen05.shift starts at lane %d, expected a multiple of 32", laneOf(address))
		}
		return func(b *block) string { return b.shift(laneOf(address), columnOf(address)) }, advance
	}), nil
}

// shift moves eight columns of 32 lanes down by one lane. The first lane is unchanged.
func (b *block) shift(lane, column int) string {
	t := b.tensor()
	for l := lane + 31; l > lane; l-- {
		to, known, why := t.row(l, column, 8)
		if why != "" {
			return why
		}
		from, was, why := t.row(l-1, column, 8)
		if why != "" {
			return why
		}
		b.tellTensor(EventRead, l-1, column, 8)
		b.tellTensor(EventWrite, l, column, 8)
		copy(to, from)
		copy(known, was)
	}
	return ""
}

// tensorCommit decodes tcgen05.commit, which arrives on mbarriers when all earlier tcgen05
// operations of the thread are complete.
func tensorCommit(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	var ranks *ref
	if args := d.reads(); len(args) > 0 {
		ranks = &args[0]
	}
	group, o := d.tensorGroup(), &bulkOperands{bar: at, mask: ranks, mbarrier: true}
	return func(w *warp, mask uint32) action {
		if _, why := group.blocks(w); why != "" {
			return w.fault(-1, nil, "%s", why)
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			targets, act := w.commitTargets(o, op.Space, l)
			if act != advance {
				return act
			}
			for _, p := range targets {
				p.visits.note(w, l, p.owner)
			}
			act = w.issueTensor(l, func() string {
				for _, p := range targets {
					w.block.grid.tellPhase(w.block.cluster.queue.running, EventSignal, l, p.owner,
						p.at)
					if why := p.arrive(1); why != "" {
						return why
					}
				}
				return ""
			})
			if act != advance {
				return act
			}
		}
		return advance
	}, nil
}

// commitTargets returns the mbarriers that a commit of a lane arrives on.
func (w *warp) commitTargets(o *bulkOperands, space isa.Space, lane int) ([]*phaseState, action) {
	var one *phaseState
	var at uint64
	act := w.mbarriers(&o.bar, space, 1<<lane, func(l int, p *phaseState) string {
		one, at = p, w.where.at[l]
		return ""
	})
	if act != advance || o.mask == nil {
		return []*phaseState{one}, act
	}
	var list []*phaseState
	all := w.block.cluster.blocks
	ranks := uint32(w.value(o.mask, &w.scratch[1])[lane])
	if o.mask.bits != 32 {
		ranks &= 0xffff
	}
	for ; ranks != 0; ranks &= ranks - 1 {
		rank := bits.TrailingZeros32(ranks)
		if rank >= len(all) {
			return nil, w.fault(lane, nil, "multicast to block %d, but the cluster has %d blocks",
				rank, len(all))
		}
		p := all[rank].phases[at]
		if p == nil {
			return nil, w.fault(lane, nil,
				"mbarrier of block %d of the cluster %s", rank, CauseUninitialized)
		}
		list = append(list, p)
	}
	return list, advance
}
