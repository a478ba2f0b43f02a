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

// tensorCopy decodes cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tile mode.
func tensorCopy(d *decoder) (step, error) {
	op := d.operation()
	t := &tensorStep{o: bulkOperands{told: op.Has(isa.ModMbarrierCompleteTxBytes), pair: op.Has(isa.ModCTAGroup2)}}
	t.loads = op.From == isa.Global
	mapArg, sharedArg := 0, 1
	if t.loads {
		mapArg, sharedArg = 1, 0
	}
	var err error
	if t.tensor, err = d.address(mapArg); err != nil {
		return nil, err
	}
	if t.o.to, err = d.address(sharedArg); err != nil {
		return nil, err
	}
	if t.o.told {
		if t.o.bar, err = d.address(2); err != nil {
			return nil, err
		}
	}
	n := -1
	for i := range d.in.Args {
		if parts := d.in.Args[i].Args(); len(parts) == 2 {
			if n++; n == 0 {
				t.at = d.flatten(nil, &parts[1])
			}
		}
	}
	args := d.reads()
	if op.Has(isa.ModL2CacheHint) {
		args = args[:len(args)-1]
	}
	if op.Has(isa.ModMulticastCluster) && len(args) == 1 {
		t.o.mask, args = &args[0], nil
	}
	if len(args) != 0 || len(t.at) == 0 {
		return nil, fmt.Errorf("%s with these operands is not emulated yet", d.in.Op)
	}
	if op.Kind == isa.KindCpReduceAsyncBulkTensor {
		t.reduces = reductionName(&op)
	}
	return t.run, nil
}

// reductionName returns the name of the reduction of an operation.
func reductionName(op *isa.Operation) string {
	for _, m := range op.Mods() {
		switch m {
		case isa.ModAdd, isa.ModMin, isa.ModMax, isa.ModInc, isa.ModDec, isa.ModAnd, isa.ModOr, isa.ModXor:
			return m.String()[1:]
		}
	}
	return ""
}

// A tensorStep is a decoded copy of a box.
type tensorStep struct {
	o       bulkOperands // to is the address in shared memory in both directions
	tensor  addressRef
	at      []ref
	loads   bool
	reduces string
}

// run issues the copies of the lanes of a mask.
func (t *tensorStep) run(w *warp, mask uint32) action {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		lane := uint32(1) << l
		if !w.locate(&t.tensor, lane, &demand{size: tensorMapLen, align: 64, proxy: ProxyTensorMap}) {
			return failed
		}
		box, err := decodeMap(w.where.of(l).data[w.where.at[l]:])
		if err != nil {
			return w.fault(l, nil, "%v", err)
		}
		if box.rank != len(t.at) || box.im2col || box.leave != 0 || !t.loads && box.sharedBytes() != box.elementBytes() {
			return w.fault(l, nil, "the tensor map has %d dimensions and is of a kind that is not emulated yet, or the copy has %d", box.rank, len(t.at))
		}
		var start [mostDims]int64
		for i := range t.at {
			start[i] = int64(int32(w.value(&t.at[i], &w.scratch[2])[l]))
		}
		if g := int64(box.together()); start[0]%g != 0 {
			return w.fault(l, nil, "the first coordinate %d of elements of this type is not a multiple of %d", start[0], g)
		} else {
			start[0] /= g
		}
		n := box.bytes()
		align := uint64(128)
		if !w.locate(&t.o.to, lane, &demand{space: isa.Shared, size: box.room(), align: align, write: t.loads, quiet: true}) {
			return failed
		}
		shared, off := w.where.of(l), w.where.at[l]
		targets, act := w.bulkTargets(&t.o, l, shared)
		if act != advance {
			return act
		}
		e := w.describe(w.cur, l)
		var combine eval.Combine
		if t.reduces != "" {
			if combine, err = eval.CombineOf(t.reduces, elementType(box.kind)); err != nil {
				return w.fault(l, nil, "%v", err)
			}
		}
		act = w.issue(lane, &w.bulkGroups, w.grouped(t.o.told), func(int) *Fault {
			for _, target := range targets {
				c := boxCopy{grid: w.block.grid, lane: l, running: w.block.cluster.queue.running, tensor: box, start: start, shared: target.region, at: off, loads: t.loads, combine: combine}
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

// elements returns how many elements the box has in a dimension: a step leaves some out.
func (m *tensorMap) elements(i int) uint64 { return (m.box[i] + m.steps[i] - 1) / m.steps[i] }

// pitch returns the bytes from a row of a box to the next in shared memory. With a swizzle a row takes
// all of its width.
func (m *tensorMap) pitch() uint64 {
	return max(m.elements(0)*m.sharedBytes(), uint64(m.swizzle))
}

// room returns the bytes that a box takes in shared memory.
func (m *tensorMap) room() uint64 {
	n := m.pitch()
	for i := 1; i < m.rank; i++ {
		n *= m.elements(i)
	}
	return n
}

// bytes returns the bytes that a copy of a box counts. Padding is not among them.
func (m *tensorMap) bytes() uint64 {
	n := m.elementBytes()
	for i := range m.rank {
		n *= m.elements(i)
	}
	return n
}

// A boxCopy is a copy of a box between a tensor and shared memory.
type boxCopy struct {
	grid    *grid
	tensor  *tensorMap
	start   [mostDims]int64
	shared  *region
	at      uint64
	loads   bool
	combine eval.Combine

	lane    int
	running *operation
}

// tell shows an access to the box in shared memory or to the tensor.
func (c *boxCopy) tell(writes bool, r *region, at, n uint64) {
	kind := EventRead
	if writes {
		kind = writeKind(c.combine)
	}
	c.grid.tellRange(c.running, kind, c.lane, r, at, n, ProxyAsync)
}

// run copies the rows of the box.
func (c *boxCopy) run() string {
	m := c.tensor
	rows := uint64(1)
	for i := 1; i < m.rank; i++ {
		rows *= m.elements(i)
	}
	rowBytes, pitch := m.elements(0)*m.elementBytes(), m.pitch()
	for row := range rows {
		inside, at := true, m.address
		rest := row
		for i := 1; i < m.rank; i++ {
			n := m.elements(i)
			x := c.start[i] + int64(rest%n*m.steps[i])
			rest /= n
			if x < 0 || uint64(x) >= m.sizes[i] {
				inside = false
				break
			}
			at += uint64(x) * m.strides[i]
		}
		if why := c.row(inside, at, row*pitch, rowBytes); why != "" {
			return why
		}
	}
	return ""
}

// row copies the elements of a row of the box. Those outside of the tensor are zero, or not-a-number.
func (c *boxCopy) row(inside bool, at, off, n uint64) string {
	m := c.tensor
	width := m.elementBytes()
	padded := m.sharedBytes() != width
	for i := uint64(0); i < n; i += width {
		x := c.start[0] + int64(i/width*m.steps[0])
		place := c.at + off + i/width*m.sharedBytes()
		if place = m.swizzled(place); place+width > uint64(len(c.shared.data)) {
			return fmt.Sprintf("tensor copy out of bounds: shared address 0x%x, with a swizzle of %d bytes", place, m.swizzle)
		}
		if !inside || x < 0 || uint64(x) >= m.sizes[0] {
			if c.loads {
				c.tell(true, c.shared, place, width)
				clear(c.shared.data[place : place+width])
				if m.nan && !padded {
					put(c.shared.data[place:], width, m.outside())
				}
				fill(c.shared.init[place:place+width], 0xff)
			}
			continue
		}
		address := at + uint64(x)*width
		r := c.grid.device.memory.span(address, width)
		if r == nil {
			return fmt.Sprintf("tensor copy out of bounds: element at global address 0x%x is in no allocation", address)
		}
		// Elements that follow each other in both places go at once.
		run := width
		for m.steps[0] == 1 && !padded && i+run < n && (place+run)%16 != 0 && uint64(x)+run/width < m.sizes[0] && address+run+width <= r.end() {
			run += width
		}
		c.tell(!c.loads, r, address-r.base, run)
		c.tell(c.loads, c.shared, place, run)
		switch {
		case c.loads:
			copyBytes(c.shared, place, r, address-r.base, run)
		case c.combine != nil:
			c.grid.combine(r, address-r.base, c.shared, place, run, width, c.combine)
		default:
			copyBytes(r, address-r.base, c.shared, place, run)
		}
		i += run - width
	}
	return ""
}

// swizzled returns where the byte at a shared address lies.
func (m *tensorMap) swizzled(at uint64) uint64 {
	switch m.swizzle {
	case 32:
		return at ^ at>>3&0x10
	case 64:
		return at ^ at>>3&0x30
	case 128:
		return at ^ at>>3&0x70
	}
	return at
}

// outside returns the bits of an element outside of the tensor.
func (m *tensorMap) outside() uint64 {
	if !m.nan {
		return 0
	}
	switch m.elementBytes() {
	case 2:
		return 0x7fff
	case 8:
		return 0x7fffffffffffffff
	}
	return 0x7fffffff
}
