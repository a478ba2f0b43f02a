// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A boxCopy is a copy of a box between a tensor and shared memory.
type boxCopy struct {
	grid    *grid
	tensor  *tensorMap
	mode    tensorMode
	start   [maxDims]int64 // for gather4: the column and the rows
	shared  *region
	at      uint64
	loads   bool
	combine eval.Combine

	lane    int
	running *operation
}

// tell reports an access to n bytes of the shared memory or of the tensor to observers.
func (c *boxCopy) tell(writes bool, r *region, at, n uint64) {
	kind := EventRead
	if writes {
		kind = writeKind(c.combine)
	}
	c.grid.tellRange(c.running, kind, c.lane, r, at, n, ProxyAsync)
}

// run copies all rows of the box. It returns an error message, or "".
func (c *boxCopy) run() string {
	m := c.tensor
	at := c.start
	rowBytes, pitch := m.rowBytes(c.mode), m.pitch(c.mode)
	first, end := m.spatial()
	c.grid.charge(int(m.rows(c.mode) * rowBytes / 4))
	for row := range m.rows(c.mode) {
		x := [maxDims]int64{c.start[0]}
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

// spatial returns the range of dimensions that select a pixel of an im2col copy: the first of these
// dimensions, and the dimension after the last.
func (m *tensorMap) spatial() (first, end int) {
	if m.leave != 0 {
		return 0, m.rank - 2
	}
	return 1, m.rank - 1
}

// nextPixel moves to the next pixel of an im2col box: first within a row, then to the next row,
// then to the next image.
func (m *tensorMap) nextPixel(at *[maxDims]int64) {
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

// row copies the elements of a row of the box. Elements outside the tensor become zero or NaN. It
// returns an error message, or "".
func (c *boxCopy) row(inside bool, at, off, n uint64) string {
	m := c.tensor
	width := m.elementBytes()
	padded := m.sharedBytes() != width
	for i := uint64(0); i < n; i += width {
		x := c.start[0] + int64(i/width*m.steps[0])
		place := c.at + off + i/width*m.sharedBytes()
		if place = m.swizzled(place); place+width > uint64(len(c.shared.data)) {
			return fmt.Sprintf(
				"tensor copy %s: %s%x, with a swizzle of %d bytes", CauseBounds, CauseSharedAddress,
				place, m.swizzle)
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

// outOfTensor returns the error message for a copy to or from an address that is in the tensor, but
// outside all allocations.
func outOfTensor(address uint64) string {
	return fmt.Sprintf(
		"tensor copy %s: element %s%x is in no allocation", CauseBounds, CauseGlobalAddress,
		address)
}

// blank fills elements of shared memory whose coordinates are outside the tensor with zero or
// NaN.
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

// move copies n contiguous bytes between the tensor, at offset at of region r, and shared memory.
// It returns an error message, or "".
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

// swizzled returns the swizzled position of a byte of shared memory. The swizzle permutes units
// of 16 bytes, or larger units if the map specifies them.
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

// misplaced returns why a tiled copy cannot start at the given coordinates, or "". The rules were
// observed on an H100: a row must start at a multiple of 16 bytes, and a store must not start at a
// negative coordinate.
func (m *tensorMap) misplaced(t *tensorStep, start []int64) string {
	if t.mode != tile {
		return ""
	}
	if at := start[0] * int64(m.strides[0]); at%16 != 0 {
		return fmt.Sprintf("the first coordinate %d is %d %s", start[0], at, CauseFirstCoordinate)
	}
	for i, x := range start {
		if x < 0 && !t.loads {
			return fmt.Sprintf("%s: %d in dimension %d", CauseNegativeStore,
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
