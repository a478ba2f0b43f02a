// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import "fmt"

// A Matrix is a decoded 64-bit matrix descriptor of a matrix in shared memory. Offsets are in
// bytes.
type Matrix struct {
	Start, Leading, Stride uint32
	Swizzle                int  // bytes per row of the swizzle pattern: 0, 32, 64 or 128
	Wide                   bool // the 128-byte swizzle permutes units of 32 bytes
	Base                   uint32
	Absolute               bool // Leading is the address of the second 128-byte chunk
}

func decodeFields(d uint64) Matrix {
	return Matrix{
		Start:   uint32(d & 0x3fff << 4),
		Leading: uint32(d >> 16 & 0x3fff << 4),
		Stride:  uint32(d >> 32 & 0x3fff << 4),
		Base:    uint32(d >> 49 & 7),
	}
}

// DecodeHopper decodes a matrix descriptor of wgmma.
func DecodeHopper(d uint64) (Matrix, error) {
	m := decodeFields(d)
	m.Swizzle = [4]int{0, 128, 64, 32}[d>>62]
	return m, nil
}

// DecodeBlackwell decodes a matrix descriptor of tcgen05. It returns an error for invalid fields.
func DecodeBlackwell(d uint64) (Matrix, error) {
	m := decodeFields(d)
	m.Absolute = d>>52&1 != 0
	switch d >> 61 {
	case 0:
	case 1:
		m.Swizzle, m.Wide = 128, true
	case 2:
		m.Swizzle = 128
	case 4:
		m.Swizzle = 64
	case 6:
		m.Swizzle = 32
	default:
		return m, fmt.Errorf("matrix descriptor %#x: swizzle mode %d is not defined", d, d>>61)
	}
	if d>>46&7 != 1 {
		return m, fmt.Errorf("matrix descriptor %#x: bits 46-48 are %d, want 1", d, d>>46&7)
	}
	if d>>53&255 != 0 {
		return m, fmt.Errorf("matrix descriptor %#x: bits 53-60 are %d, want 0", d, d>>53&255)
	}
	return m, nil
}

// swizzle permutes the 16-byte units of an address. The pattern starts at multiples of its size, or
// Base rows before them.
func (m *Matrix) swizzle(address uint32) uint32 {
	row := address>>7 - m.Base
	switch {
	case m.Wide:
		return address ^ row&3<<5
	case m.Swizzle == 128:
		return address ^ row&7<<4
	case m.Swizzle == 64:
		return address ^ row&3<<4
	case m.Swizzle == 32:
		return address ^ row&1<<4
	}
	return address
}

// AlongK returns the address of byte b of a row in a K-major matrix, whose rows are contiguous
// along K. Rows are in groups of eight that are Stride bytes apart. Without a swizzle, 16 bytes of
// each of eight rows are contiguous, and the next 16 bytes of the rows are Leading bytes away.
func (m *Matrix) AlongK(row, b int) uint32 {
	at := m.Start + uint32(row/8)*m.Stride
	if m.Swizzle == 0 {
		return at + uint32(row%8*16) + uint32(b/16)*m.Leading + uint32(b%16)
	}
	if m.Absolute {
		// the second 128-byte chunk is at a different address
		if b += int(m.Start & 127); b >= 128 {
			return m.swizzle(m.Leading + uint32(row/8)*m.Stride + uint32(row%8*128+b-128))
		}
		return m.swizzle(at&^127 + uint32(row%8*128+b))
	}
	return m.swizzle(at + uint32(row%8*m.Swizzle+b))
}

// AlongMN returns the address of byte b at depth k in an MN-major matrix, whose columns are
// contiguous along M or N. Without a swizzle, 16 bytes at each of eight depths are contiguous; the
// next eight depths are Leading bytes away, and the next 16 bytes Stride. With a swizzle, blocks as
// wide as the swizzle are Leading bytes apart, and groups of eight depths Stride.
func (m *Matrix) AlongMN(b, k int) uint32 {
	if m.Swizzle == 0 {
		return m.Start + uint32(k/8)*m.Leading + uint32(k%8*16) + uint32(b/16)*m.Stride +
			uint32(b%16)
	}
	w := m.Swizzle
	at := m.Start + uint32(b/w)*m.Leading + uint32(b%w)
	return m.swizzle(at + uint32(k/8)*m.Stride + uint32(k%8*w))
}
