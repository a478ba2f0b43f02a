// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"encoding/binary"
	"fmt"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// mark begins what Encode writes.
const mark = 0x6d6f64656c

// Encode keeps the map, and writes its number.
func (d *Device) Encode(to *[128]byte, m *device.TensorMap) error {
	if m.Im2col || m.Interleave != 0 {
		return errModel
	}
	for _, s := range m.Steps {
		if s != 1 {
			return errModel
		}
	}
	clear(to[:])
	binary.LittleEndian.PutUint64(to[:], mark)
	binary.LittleEndian.PutUint64(to[8:], uint64(len(d.maps)))
	d.maps = append(d.maps, *m)
	return nil
}

// tensorMap is the map at an address in the parameters.
func (c *cluster) tensorMap(at uint64) (*device.TensorMap, error) {
	off := at - parameters
	if at < parameters || off+128 > uint64(len(c.values)) || binary.LittleEndian.Uint64(c.values[off:]) != mark {
		return nil, fmt.Errorf("there is no tensor map at %#x", at)
	}
	return &c.d.maps[binary.LittleEndian.Uint64(c.values[off+8:])], nil
}

// elementBits are those of an element in global memory, and of the sixteen that padded ones come in, in shared memory.
func elementBits(t device.TensorType) (each, sixteen int) {
	switch t {
	case device.U8:
		return 8, 128
	case device.U16, device.F16, device.BF16:
		return 16, 256
	case device.U64, device.S64, device.F64:
		return 64, 1024
	case device.Packed4x8:
		return 4, 64
	case device.Packed4x16:
		return 4, 128
	case device.Packed6x16:
		return 6, 128
	}
	return 32, 512
}

// swizzle moves the 16 bytes at an address in shared memory: of the address bits from 4 on some are XORed with those from 7 on (PTX ISA 9.1,
// 5.5.7): three for 128 bytes, two for 64, one for 32.
func swizzle(at uint64, bytes int) uint64 {
	switch bytes {
	case 128:
		return at ^ at>>7&7<<4
	case 64:
		return at ^ at>>7&3<<4
	case 32:
		return at ^ at>>7&1<<4
	}
	return at
}

// box visits the pieces of 16 bytes, or of sixteen padded elements, of a box of a tensor map whose corner has coordinates, innermost first: where they lie
// in shared memory, where in global memory, and how many bytes. Inside is false for what is outside of the tensor.
func box(m *device.TensorMap, corner []int64, shared uint64, visit func(shared, global uint64, bytes int, inside bool) error) (moved int, err error) {
	each, sixteen := elementBits(m.Type)
	padded := sixteen != 16*each
	inner := int(m.Box[0]) * sixteen / 16 / 8 // bytes of a row
	pitch := max(inner, m.Swizzle)            // from a row to the next: a swizzle takes all of its width (CUDA programming guide, tensor memory access)
	step := 16                                // bytes of a piece
	count := 16 * 8 / each                    // elements
	if padded {
		count = 16
	}
	switch {
	case inner%16 != 0:
		return 0, fmt.Errorf("rows of a box have %d bytes", inner)
	case m.Swizzle != 0 && inner > m.Swizzle:
		return 0, fmt.Errorf("rows of a box have %d bytes, with a swizzle of %d", inner, m.Swizzle)
	case shared%128 != 0:
		return 0, fmt.Errorf("a box in shared memory begins at %#x, which is no multiple of 128", shared)
	case padded && (m.Box[0] != 128 || corner[0]%128 != 0 || m.Swizzle != 0 && m.Swizzle != 128):
		return 0, fmt.Errorf("boxes of padded elements have 128 in a row, and begin at a multiple of 128")
	}
	rows := 1
	for _, n := range m.Box[1:] {
		rows *= int(n)
	}
	for row := range rows {
		global, inside := uint64(m.Address), true
		rest := row
		for dim := 1; dim < len(m.Box); dim++ {
			at := corner[dim] + int64(rest%int(m.Box[dim]))
			rest /= int(m.Box[dim])
			inside = inside && at >= 0 && at < int64(m.Sizes[dim])
			global += uint64(at) * m.Strides[dim-1]
		}
		for i := 0; i < inner/step; i++ {
			first := corner[0] + int64(i*count)
			left := min(int64(count), int64(m.Sizes[0])-first) // that the tensor has
			n := int(max(0, left)) * each / 8
			ok := inside && first >= 0 && n > 0
			to := swizzle(shared+uint64(row*pitch+i*step), m.Swizzle)
			if err := visit(to, global+uint64(first*int64(each)/8), n, ok); err != nil {
				return 0, err
			}
		}
	}
	return rows * int(m.Box[0]) * each / 8, nil
}

// loadBox copies a box to shared memory. Padding keeps what was there. It returns the bytes that complete a barrier: those of the elements, the
// padding not counted (CUTLASS expects as many).
func (c *cluster) loadBox(m *device.TensorMap, corner []int64, to uint64) (int, error) {
	each, _ := elementBits(m.Type)
	full := 16
	if _, sixteen := elementBits(m.Type); sixteen != 16*each {
		full = 2 * each
	}
	return box(m, corner, to, func(shared, global uint64, n int, inside bool) error {
		b, _, err := c.shared(shared, full)
		if err != nil {
			return err
		}
		clear(b)
		if !inside {
			return nil
		}
		from, err := c.d.memory.at(global, n)
		copy(b, from)
		return err
	})
}

// storeBox copies a box to global memory, as far as the tensor goes.
func (c *cluster) storeBox(m *device.TensorMap, corner []int64, from uint64) error {
	_, err := box(m, corner, from, func(shared, global uint64, n int, inside bool) error {
		if !inside {
			return nil
		}
		b, _, err := c.shared(shared, n)
		if err != nil {
			return err
		}
		to, err := c.d.memory.at(global, n)
		copy(to, b)
		return err
	})
	return err
}
