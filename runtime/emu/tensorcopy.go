// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// tensorCopy decodes cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
func tensorCopy(d *decoder) (step, error) {
	op := d.operation()
	t := &tensorStep{
		o: bulkOperands{mbarrier: op.Has(isa.ModMbarrierCompleteTxBytes),
			pair: op.Has(isa.ModCTAGroup2)}}
	t.loads = op.From == isa.Global
	shared := "from"
	if t.loads {
		shared = "to"
	}
	var err error
	if t.tensor, err = d.addressNamed("map"); err != nil {
		return nil, err
	}
	if t.o.to, err = d.addressNamed(shared); err != nil {
		return nil, err
	}
	if t.o.mbarrier {
		if t.o.bar, err = d.addressNamed("mbar"); err != nil {
			return nil, err
		}
	}
	t.at, t.offsets, t.base = d.registersNamed("at"), d.registersNamed("offsets"),
		d.valueNamed("base")
	t.sizes, t.low, t.high = d.registersNamed("sizes"), d.registersNamed("low"),
		d.valueNamed("high")
	if t.o.mask = d.valueNamed("mask"); t.o.mask == nil {
		t.o.mask = d.valueNamed("mask32")
	}
	if len(t.at) == 0 {
		return nil, fmt.Errorf("%s has no coordinates", d.in.Op)
	}
	switch {
	case op.Has(isa.ModTileGather4), op.Has(isa.ModTileScatter4):
		t.mode = fourRows
	case op.Has(isa.ModIm2col), op.Has(isa.ModIm2colNoOffs):
		t.mode = pixels
	}
	if op.Kind == isa.KindCpReduceAsyncBulkTensor {
		t.reduces = reductionMod(&op)
	}
	return t.run, nil
}

// A tensorMode is the mode of a tensor copy.
type tensorMode uint8

// Modes of tensor copies.
const (
	tile     tensorMode = iota // a box
	fourRows                   // four rows of a matrix (tile::gather4)
	pixels                     // channels of pixels under a filter (im2col)
)

// A tensorStep is a decoded copy of a box.
type tensorStep struct {
	o       bulkOperands // o.to is the shared-memory address for both directions
	tensor  addressRef
	at      []ref
	offsets []ref // im2col offsets
	base    *ref  // address of the tensor, replacing that of the map
	sizes   []ref // sizes of the tensor that replace the sizes in the map
	low     []ref // bits 4 to 35 of the strides that replace the strides in the map
	high    *ref  // bits 36 to 39 of the strides, four bits per stride
	mode    tensorMode
	loads   bool
	reduces isa.Mod // isa.NoMod for a copy
}

// fits returns the reason why a copy cannot use a tensor map, or "".
func (t *tensorStep) fits(m *tensorMap) string {
	rank := len(t.at)
	if t.mode == fourRows {
		rank = 2
	}
	switch {
	case m.rank != rank:
		return fmt.Sprintf("the tensor map has %d dimensions, but the copy has %d", m.rank, rank)
	case m.im2col != (t.mode == pixels):
		return "the modes of the tensor map and the copy differ: one is tiled, the other im2col"
	case t.mode == fourRows && m.box[1] != 1:
		return fmt.Sprintf(
			"the tensor map has a box of %d rows, but gather and scatter copies require 1",
			m.box[1])
	case m.leave != 0 && (t.mode == fourRows || m.together() > 1 || m.rank < 3):
		return "a tensor map with interleaved channels supports only boxes and im2col copies of three to five dimensions, with elements of at least 8 bits"
	case m.swizzle == swizzle96 || m.atom == atom32Flip:
		return "swizzles of 96 bytes, and swizzles that exchange 8-byte halves, are not emulated"
	case !t.loads && m.sharedBytes() != m.elementBytes() && m.kind != device.Packed6x16:
		return "elements of this type cannot be stored: they are padded in shared memory"
	}
	return ""
}

// run issues the copies of the lanes of a mask.
func (t *tensorStep) run(w *warp, mask uint32) action {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		lane := uint32(1) << l
		if !w.locate(&t.tensor, lane,
			&demand{size: tensorMapLen, align: 64, proxy: ProxyTensorMap}) {
			return failed
		}
		described, place := w.where.regionOf(l), w.where.at[l]
		box, err := decodeMap(described.data[place:])
		if err != nil {
			return w.fault(l, nil, "%v", err)
		}
		if why := t.fits(box); why != "" {
			return w.fault(l, nil, "%s", why)
		}
		var start [maxDims]int64
		for i := range t.at {
			start[i] = int64(int32(w.value(&t.at[i], &w.scratch[2])[l]))
		}
		if why := t.override(w, l, box, start); why != "" {
			return w.fault(l, nil, "%s", why)
		}
		for i := range t.offsets {
			box.offsets[i] = int64(w.value(&t.offsets[i], &w.scratch[2])[l] & 0xffff)
		}
		if g := int64(box.together()); start[0]%g != 0 {
			return w.fault(l, nil,
				"the innermost coordinate is %d, expected a multiple of %d for this element type",
				start[0], g)
		} else {
			start[0] /= g
		}
		if why := box.misplaced(t, start[:len(t.at)]); why != "" {
			return w.fault(l, nil, "%s", why)
		}
		rows := box.rows(t.mode)
		n := rows * box.rowBytes(t.mode)
		if !w.locate(&t.o.to, lane,
			&demand{space: isa.Shared, size: rows * box.pitch(t.mode), align: 128, write: t.loads,
				quiet: true}) {
			return failed
		}
		shared, off := w.where.regionOf(l), w.where.at[l]
		targets, act := w.bulkTargets(&t.o, l, shared)
		if act != advance {
			return act
		}
		e := w.describe(w.cur, l)
		combine, err := t.combine(box)
		if err != nil {
			return w.fault(l, nil, "%v", err)
		}
		act = w.issue(lane, &w.bulkGroups, w.bulkGroupQueue(t.o.mbarrier), func(int) *Fault {
			for _, target := range targets {
				c := boxCopy{
					grid: w.block.grid, lane: l, running: w.block.cluster.queue.running,
					tensor: box, mode: t.mode,
					start: start, shared: target.region, at: off, loads: t.loads, combine: combine,
				}
				c.grid.tellRange(c.running, EventRead, l, described, place, tensorMapLen,
					ProxyTensorMap)
				why := c.run()
				if why == "" && target.phase != nil {
					c.grid.tellPhase(c.running, EventSignal, l, target.phase.owner, target.phase.at)
					why = target.phase.complete(int64(n))
				}
				if why != "" {
					e.Message = why
					return e
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

// combine returns the operation with which a reduction combines an element of box with the one in
// memory, and nil if t is a copy.
func (t *tensorStep) combine(box *tensorMap) (eval.Combine, error) {
	switch {
	case t.reduces == isa.NoMod:
		return nil, nil
	case box.kind == device.F32:
		return eval.CombineOf(t.reduces, isa.F32, isa.ModNoFTZ)
	}
	return eval.CombineOf(t.reduces, elementType(box.kind))
}

// elementType returns the PTX type of the elements of a tensor map.
func elementType(t device.TensorType) isa.Type {
	switch t {
	case device.U8:
		return isa.U8
	case device.U16:
		return isa.U16
	case device.U32:
		return isa.U32
	case device.S32:
		return isa.S32
	case device.U64:
		return isa.U64
	case device.S64:
		return isa.S64
	case device.F16:
		return isa.F16
	case device.BF16:
		return isa.Bf16
	case device.F64:
		return isa.F64
	}
	return isa.F32
}

// elements returns how many elements the box has in a dimension, considering its element stride.
func (m *tensorMap) elements(i int) uint64 {
	if m.leave != 0 && i == m.rank-2 {
		return 1 // slice of channels
	}
	return (m.box[i] + m.steps[i] - 1) / m.steps[i]
}

// across returns the number of elements in a row of a copy.
func (m *tensorMap) across(mode tensorMode) uint64 {
	switch {
	case mode == pixels && m.leave != 0:
		return 1
	case mode == pixels:
		return m.channels / m.together()
	}
	return m.elements(0)
}

// rows returns the number of rows of a copy.
func (m *tensorMap) rows(mode tensorMode) uint64 {
	switch mode {
	case fourRows:
		return 4
	case pixels:
		return m.pixels
	}
	n := uint64(1)
	for i := 1; i < m.rank; i++ {
		n *= m.elements(i)
	}
	return n
}

// rowBytes returns the bytes of a row that count for the mbarrier. They exclude padding.
func (m *tensorMap) rowBytes(mode tensorMode) uint64 { return m.across(mode) * m.strides[0] }

// pitch returns the distance between rows in shared memory. With a swizzle, a row takes the full
// swizzle width.
func (m *tensorMap) pitch(mode tensorMode) uint64 {
	if m.leave != 0 {
		return m.rowBytes(mode)
	}
	return max(m.across(mode)*m.sharedBytes(), uint64(m.swizzle))
}
