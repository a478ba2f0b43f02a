// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// The layout of the 128 bytes of a tensor map, with the number of bytes of each field in
// parentheses: the address (8), a magic number, the element type, the rank, interleaving, swizzle
// and flags (1 each), five sizes minus one (4 each), four strides (8 each), five box sizes (2
// each), five element strides (1 each), and the corners, channels and pixels of an im2col map.
const (
	mapMagic     = 8
	mapType      = 9
	mapRank      = 10
	mapLeave     = 11
	mapSwizzle   = 12
	mapFlags     = 13
	mapAtom      = 14
	mapSizes     = 16
	mapStrides   = 40
	mapBox       = 72
	mapSteps     = 82
	mapLower     = 88
	mapUpper     = 94
	mapChannels  = 100
	mapPixels    = 102
	magic        = 0x7d
	flagNaN      = 1
	flagIm2col   = 2
	maxDims      = 5
	tensorMapLen = 128
)

// Encode encodes a tensor map in the format that kernels of this package read.
func (d *Device) Encode(to *[128]byte, m *device.TensorMap) error {
	n := len(m.Sizes)
	if n < 1 || n > maxDims || len(m.Strides) != n-1 {
		return fault("encode a tensor map", nil, "%d dimensions and %d strides", n, len(m.Strides))
	}
	*to = [128]byte{}
	little.PutUint64(to[:], uint64(m.Address))
	to[mapMagic], to[mapType], to[mapRank] = magic, byte(m.Type), byte(n)
	to[mapLeave], to[mapSwizzle] = byte(m.Interleave), byte(m.Swizzle)
	if m.NaN {
		to[mapFlags] |= flagNaN
	}
	if m.Im2col {
		to[mapFlags] |= flagIm2col
	}
	for i, size := range m.Sizes {
		if size < 1 || size > 1<<32 {
			return fault("encode a tensor map", nil, "dimension %d has size %d", i, size)
		}
		little.PutUint32(to[mapSizes+4*i:], uint32(size-1))
	}
	unit := uint64(max(16, m.Interleave))
	switch {
	case m.Interleave != 0 && n < 3:
		return fault("encode a tensor map", nil,
			"the tensor has %d dimensions, but interleaved channels need three to five", n)
	case m.Interleave == 32 && m.Swizzle != 32:
		return fault("encode a tensor map", nil,
			"channels interleaved by 32 bytes need a swizzle of 32 bytes")
	}
	for i, stride := range m.Strides {
		if stride%unit != 0 || stride >= 1<<40 {
			return fault("encode a tensor map", nil,
				"stride %d is %d, expected a multiple of %d below 2^40", i, stride, unit)
		}
		little.PutUint64(to[mapStrides+8*i:], stride)
	}
	if uint64(m.Address)%unit != 0 {
		return fault("encode a tensor map", nil, "address 0x%x is not a multiple of %d",
			uint64(m.Address), unit)
	}
	for i := range n {
		to[mapSteps+i] = 1
		if i < len(m.Steps) {
			to[mapSteps+i] = byte(m.Steps[i])
		}
		if i < len(m.Box) {
			if m.Box[i] < 1 || m.Box[i] > 256 {
				return fault("encode a tensor map", nil,
					"box dimension %d is %d, expected 1 to 256", i, m.Box[i])
			}
			little.PutUint16(to[mapBox+2*i:], uint16(m.Box[i]))
		}
	}
	for i := range min(len(m.Lower), 3) {
		little.PutUint16(to[mapLower+2*i:], uint16(m.Lower[i]))
		little.PutUint16(to[mapUpper+2*i:], uint16(m.Upper[i]))
	}
	little.PutUint16(to[mapChannels:], uint16(m.Channels))
	little.PutUint16(to[mapPixels:], uint16(m.Pixels))
	return nil
}

// A tensorMap is a decoded tensor map.
//
// With interleaved channels (NC/8HWC8), the dimensions are the width, the height, the depth, the
// slices of channels, and the images. The slices are the second outermost dimension, also in
// tensors with fewer dimensions. An element of the first dimension is a slice of 16 or 32 bytes,
// whatever the element type. A copy transfers one slice, whose index is the coordinate of the
// slice dimension; the box and the channels of an im2col map do not affect this. An H100 behaves
// in this way.
type tensorMap struct {
	address uint64
	kind    device.TensorType
	rank    int
	leave   int // bytes per interleaved group of channels: 0, 16, 32
	swizzle int // bytes: 0, 32, 64, 128
	nan     bool
	im2col  bool
	sizes   [maxDims]uint64
	// in bytes; strides[0] is that of an element, or of a slice of channels
	strides [maxDims]uint64
	box     [maxDims]uint64
	steps   [maxDims]uint64

	atom         swizzleAtom
	lower, upper [maxDims - 2]int64 // corners of an im2col bounding box
	channels     uint64
	pixels       uint64
	offsets      [maxDims - 2]int64 // im2col offsets, set per copy
}

// A swizzleAtom is the unit that a 128-byte swizzle moves, numbered as in tensormap.replace.
type swizzleAtom uint8

// Atoms of swizzles.
const (
	atom16     swizzleAtom = iota
	atom32                 // 32 bytes
	atom32Flip             // 32 bytes, with swapped halves of 8
	atom64
)

// swizzle96 is a swizzle width that is not emulated.
const swizzle96 = 96

// decodeMap decodes a tensor map.
func decodeMap(b []byte) (*tensorMap, error) {
	if len(b) < tensorMapLen || b[mapMagic] != magic {
		return nil, fmt.Errorf("%s the address", CauseNoTensorMap)
	}
	m := &tensorMap{
		address: little.Uint64(b), kind: device.TensorType(b[mapType]), rank: int(b[mapRank]),
		leave:   int(b[mapLeave]),
		swizzle: int(b[mapSwizzle]), nan: b[mapFlags]&flagNaN != 0,
		im2col: b[mapFlags]&flagIm2col != 0,
	}
	if m.rank < 1 || m.rank > maxDims {
		return nil, fmt.Errorf("tensor map has %d dimensions", m.rank)
	}
	for i := range m.rank {
		m.sizes[i] = uint64(little.Uint32(b[mapSizes+4*i:])) + 1
		m.box[i] = uint64(little.Uint16(b[mapBox+2*i:]))
		m.steps[i] = uint64(max(1, b[mapSteps+i]))
		if i > 0 {
			m.strides[i] = little.Uint64(b[mapStrides+8*(i-1):])
		}
	}
	m.strides[0] = m.elementBytes()
	if m.leave != 0 {
		m.strides[0] = uint64(m.leave)
	}
	m.atom, m.channels, m.pixels = swizzleAtom(b[mapAtom]), uint64(little.Uint16(b[mapChannels:])),
		uint64(little.Uint16(b[mapPixels:]))
	for i := range m.lower {
		m.lower[i], m.upper[i] = int64(int16(little.Uint16(b[mapLower+2*i:]))),
			int64(int16(little.Uint16(b[mapUpper+2*i:])))
	}
	if n := m.together(); n > 1 {
		m.sizes[0], m.box[0] = (m.sizes[0]+n-1)/n, m.box[0]/n
	}
	return m, nil
}

// together returns how many elements a copy moves as a unit. The number is more than one only for
// elements smaller than a byte.
func (m *tensorMap) together() uint64 {
	switch m.kind {
	case device.Packed4x8:
		return 2
	case device.Packed4x16, device.Packed6x16:
		return 16
	}
	return 1
}

// sharedBytes returns the size of an element in shared memory. Sixteen padded elements take 16
// bytes.
func (m *tensorMap) sharedBytes() uint64 {
	if m.kind == device.Packed4x16 || m.kind == device.Packed6x16 {
		return 16
	}
	return m.elementBytes()
}

// elementBytes returns the size in global memory of an element, or of elements that are copied as a
// unit.
func (m *tensorMap) elementBytes() uint64 {
	switch m.kind {
	case device.U8:
		return 1
	case device.U16, device.F16, device.BF16:
		return 2
	case device.U64, device.S64, device.F64:
		return 8
	case device.Packed4x8:
		return 1
	case device.Packed4x16:
		return 8
	case device.Packed6x16:
		return 12
	}
	return 4
}
