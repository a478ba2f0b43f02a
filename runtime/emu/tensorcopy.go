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
	sizes   []ref // sizes of the tensor, replacing those of the map
	low     []ref // bits 4 to 35 of the strides, replacing those of the map
	high    *ref  // bits 36 to 39 of the strides, four bits per stride
	mode    tensorMode
	loads   bool
	reduces isa.Mod // isa.NoMod for a copy
}

// fits returns why a copy cannot use a tensor map, or "" if it can.
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
		box, err := decodeMap(w.where.of(l).data[w.where.at[l]:])
		if err != nil {
			return w.fault(l, nil, "%v", err)
		}
		if why := t.fits(box); why != "" {
			return w.fault(l, nil, "%s", why)
		}
		var start [mostDims]int64
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
		shared, off := w.where.of(l), w.where.at[l]
		targets, act := w.bulkTargets(&t.o, l, shared)
		if act != advance {
			return act
		}
		e := w.describe(w.cur, l)
		combine, err := t.combine(box)
		if err != nil {
			return w.fault(l, nil, "%v", err)
		}
		act = w.issue(lane, &w.bulkGroups, w.grouped(t.o.mbarrier), func(int) *Fault {
			for _, target := range targets {
				c := boxCopy{
					grid: w.block.grid, lane: l, running: w.block.cluster.queue.running,
					tensor: box, mode: t.mode,
					start: start, shared: target.region, at: off, loads: t.loads, combine: combine,
				}
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

// A boxCopy is a copy of a box between a tensor and shared memory.
type boxCopy struct {
	grid    *grid
	tensor  *tensorMap
	mode    tensorMode
	start   [mostDims]int64 // for gather4: the column and the rows
	shared  *region
	at      uint64
	loads   bool
	combine eval.Combine

	lane    int
	running *operation
}

// tell reports an access to the box in shared memory or to the tensor.
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
	at := c.start
	rowBytes, pitch := m.rowBytes(c.mode), m.pitch(c.mode)
	first, end := m.spatial()
	for row := range m.rows(c.mode) {
		x := [mostDims]int64{c.start[0]}
		switch c.mode {
		case fourRows:
			x[1] = c.start[1+row]
		case pixels:
			x = at
			for i := first; i < end; i++ {
				x[i] += m.offsets[i-first]
			}
			m.nextPixel(&at)
		default:
			rest := row
			for i := 1; i < m.rank; i++ {
				n := m.elements(i)
				x[i] = c.start[i] + int64(rest%n*m.steps[i])
				rest /= n
			}
		}
		inside, address := true, m.address
		for i := 1; i < m.rank; i++ {
			inside = inside && x[i] >= 0 && uint64(x[i]) < m.sizes[i]
			address += uint64(x[i]) * m.strides[i]
		}
		var why string
		if m.leave != 0 {
			why = c.slices(inside, x[0], address, row*pitch)
		} else {
			why = c.row(inside, address, row*pitch, rowBytes)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// spatial returns the first dimension that positions a pixel of an im2col copy, and the dimension
// after the last one.
func (m *tensorMap) spatial() (first, end int) {
	if m.leave != 0 {
		return 0, m.rank - 2
	}
	return 1, m.rank - 1
}

// nextPixel moves to the next pixel of an im2col box: first within a row, then to the next row,
// then to the next image.
func (m *tensorMap) nextPixel(at *[mostDims]int64) {
	first, end := m.spatial()
	for i := first; i < end; i++ {
		at[i] += int64(m.steps[i])
		if at[i] < int64(m.sizes[i])+m.upper[i-first] {
			return
		}
		at[i] = m.lower[i-first]
	}
	at[m.rank-1]++
}

// row copies the elements of a row of the box. Elements outside the tensor become zero or NaN.
func (c *boxCopy) row(inside bool, at, off, n uint64) string {
	m := c.tensor
	width := m.elementBytes()
	padded := m.sharedBytes() != width
	for i := uint64(0); i < n; i += width {
		x := c.start[0] + int64(i/width*m.steps[0])
		place := c.at + off + i/width*m.sharedBytes()
		if place = m.swizzled(place); place+width > uint64(len(c.shared.data)) {
			return fmt.Sprintf(
				"tensor copy out of bounds: shared address 0x%x, with a swizzle of %d bytes", place,
				m.swizzle)
		}
		if !inside || x < 0 || uint64(x) >= m.sizes[0] {
			c.blank(place, width)
			continue
		}
		address := at + uint64(x)*width
		r := c.grid.device.memory.span(address, width)
		if r == nil {
			return outOfTensor(address)
		}
		// Elements that are contiguous on both sides are copied together.
		run := width
		for m.steps[0] == 1 && !padded && i+run < n && (place+run)%16 != 0 &&
			uint64(x)+run/width < m.sizes[0] && address+run+width <= r.end() {
			run += width
		}
		if why := c.move(r, address-r.base, place, run); why != "" {
			return why
		}
		i += run - width
	}
	return ""
}

// outOfTensor describes a tensor map that reaches memory outside of all allocations.
func outOfTensor(address uint64) string {
	return fmt.Sprintf(
		"tensor copy out of bounds: element at global address 0x%x is in no allocation", address)
}

// blank fills elements of shared memory that are outside of the tensor.
func (c *boxCopy) blank(place, n uint64) {
	if !c.loads {
		return
	}
	m := c.tensor
	c.tell(true, c.shared, place, n)
	clear(c.shared.data[place : place+n])
	if width := m.elementBytes(); m.nan && m.sharedBytes() == width {
		for i := uint64(0); i < n; i += width {
			put(c.shared.data[place+i:], width, m.outside())
		}
	}
	fill(c.shared.init[place:place+n], 0xff)
}

// move copies contiguous bytes between a tensor and shared memory.
func (c *boxCopy) move(r *region, at, place, n uint64) string {
	m := c.tensor
	c.tell(!c.loads, r, at, n)
	if packs := m.sharedBytes() != m.elementBytes() && !c.loads; packs {
		c.tell(false, c.shared, place, m.sharedBytes())
	} else {
		c.tell(c.loads, c.shared, place, n)
	}
	switch {
	case c.loads:
		copyBytes(c.shared, place, r, at, n)
		if m.kind == device.TF32 {
			roundTF32(c.shared.data[place : place+n])
		}
	case c.combine != nil:
		return c.grid.combine(r, at, c.shared, place, n, m.elementBytes(), c.combine)
	case m.kind == device.Packed6x16:
		packSixes(r, at, c.shared, place)
	default:
		copyBytes(r, at, c.shared, place, n)
	}
	return ""
}

// slices copies a row of a tensor with interleaved channels. Each element of the row is a slice of
// 16 or 32 bytes, of which a swizzle moves 16 at once.
func (c *boxCopy) slices(inside bool, x int64, at, off uint64) string {
	const unit = 16
	m := c.tensor
	for i := range m.across(c.mode) {
		within := inside && x >= 0 && uint64(x) < m.sizes[0]
		for part := uint64(0); part < m.strides[0]; part += unit {
			place := m.swizzled(c.at + off + i*m.strides[0] + part)
			if place+unit > uint64(len(c.shared.data)) {
				return fmt.Sprintf(
					"tensor copy out of bounds: shared address 0x%x, with a swizzle of %d bytes",
					place, m.swizzle)
			}
			if !within {
				c.blank(place, unit)
				continue
			}
			address := at + uint64(x)*m.strides[0] + part
			r := c.grid.device.memory.span(address, unit)
			if r == nil {
				return outOfTensor(address)
			}
			if why := c.move(r, address-r.base, place, unit); why != "" {
				return why
			}
		}
		x += int64(m.steps[0])
	}
	return ""
}

// packSixes stores sixteen elements of 6 bits, which take a byte each in shared memory (.b6p2x16),
// as 12 bytes.
func packSixes(to *region, at uint64, from *region, off uint64) {
	for i := uint64(0); i < 16; i += 4 {
		var word uint32
		known := byte(0xff)
		for j := range uint64(4) {
			word |= uint32(from.data[off+i+j]&63) << (6 * j)
			if from.init != nil {
				known &= from.init[off+i+j]
			}
		}
		to.data[at], to.data[at+1], to.data[at+2] = byte(word), byte(word>>8), byte(word>>16)
		if to.init != nil {
			fill(to.init[at:at+3], known)
		}
		at += 3
	}
}

// roundTF32 rounds f32 elements to TF32, as loads through a TF32 map do: to nearest, ties away from
// zero. NaN becomes the canonical NaN.
func roundTF32(b []byte) {
	const infinity, unused = 0x7f800000, 0x1fff
	for ; len(b) >= 4; b = b[4:] {
		x := little.Uint32(b)
		switch size := x &^ (1 << 31); {
		case size > infinity:
			x = 0x7fffffff
		case size < infinity:
			x += (unused + 1) / 2
		}
		little.PutUint32(b, x&^unused)
	}
}

// swizzled returns the swizzled position of a byte of shared memory. The swizzle permutes units of
// 16 bytes, or larger ones if the map says so.
func (m *tensorMap) swizzled(at uint64) uint64 {
	switch m.swizzle {
	case 32:
		return at ^ at>>3&0x10
	case 64:
		return at ^ at>>3&0x30
	case 128:
		switch m.atom {
		case atom32:
			return at ^ at>>2&0x60
		case atom64:
			return at ^ at>>1&0x40
		}
		return at ^ at>>3&0x70
	}
	return at
}

// misplaced returns why a tiled copy cannot start at the given coordinates, by rules observed on
// the H100: a row must start at a multiple of 16 bytes, and a store must start inside the tensor.
func (m *tensorMap) misplaced(t *tensorStep, start []int64) string {
	if t.mode != tile {
		return ""
	}
	if at := start[0] * int64(m.strides[0]); at%16 != 0 {
		return fmt.Sprintf(
			"the first coordinate %d is %d bytes into a row, which is not a multiple of 16",
			start[0], at)
	}
	for i, x := range start {
		if x < 0 && !t.loads {
			return fmt.Sprintf("tensor store starts at a negative coordinate: %d in dimension %d",
				x, i)
		}
	}
	return ""
}

// outside returns the bits of an element outside the tensor. The NaN fill of every type repeats the
// 16-bit NaN that the H100 uses, 0x7ff7, which fma.oob recognizes.
func (m *tensorMap) outside() uint64 {
	if !m.nan {
		return 0
	}
	const word = 0x7ff7_7ff7_7ff7_7ff7
	return word & (1<<(8*m.elementBytes()) - 1)
}
