// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A mapping is a tensor map that is not encoded yet.
type mapping struct {
	device.TensorMap
	word   string
	widths []int // strides in elements, from the option Strides
}

// types returns the code and the width in bits of an element type of tensor maps. ok is false for
// other types.
func types(word string) (t device.TensorType, bits int, ok bool) {
	switch word {
	case "u8", "s8", "b8", "e4m3", "e5m2", "ue8m0":
		return device.U8, 8, true
	case "u16", "s16", "b16":
		return device.U16, 16, true
	case "u32", "b32":
		return device.U32, 32, true
	case "s32":
		return device.S32, 32, true
	case "u64", "b64":
		return device.U64, 64, true
	case "s64":
		return device.S64, 64, true
	case "f16":
		return device.F16, 16, true
	case "f32":
		return device.F32, 32, true
	case "f64":
		return device.F64, 64, true
	case "bf16":
		return device.BF16, 16, true
	case "tf32":
		return device.TF32, 32, true
	case "e2m1", "b4x16":
		return device.Packed4x8, 4, true
	case "b4x16_p64":
		return device.Packed4x16, 4, true
	case "b6x16_p32", "b6p2x16":
		return device.Packed6x16, 6, true
	}
	return 0, 0, false
}

func bits(word string) int {
	_, n, _ := types(word)
	return n
}

// mapping returns the description of a tensor in a buffer, without the box.
func (m *memory) mapping(word string, sizes []int, options []MapOption) (*mapping, error) {
	d := &mapping{word: typeOf(word)}
	d.Address = m.at
	for _, option := range options {
		option(d)
	}
	t, width, ok := types(d.word)
	if err := m.checkMapping(d, len(sizes), width, ok); err != nil {
		return nil, err
	}
	d.Type = t
	unit, align := 1, 16 // innermost elements, and the alignment of strides in bytes
	if leave := d.TensorMap.Interleave; leave != 0 {
		unit, align = max(1, 8*leave/width), leave
	}
	if err := d.setStrides(sizes, unit); err != nil {
		return nil, err
	}
	need, err := d.setSizes(sizes, unit, align, width)
	if err != nil {
		return nil, err
	}
	if bytes := int64(need) * int64(width) / 8; bytes > m.bytes() {
		return nil, argument("tensor map: a tensor of %v %s covers %d bytes, but the buffer has %d",
			sizes, d.word, bytes, m.bytes())
	}
	return d, nil
}

// checkMapping checks the properties of a tensor map that do not depend on its sizes. width is
// the width of its elements in bits; typed is false if tensor maps do not support the element
// type.
func (m *memory) checkMapping(d *mapping, dimensions, width int, typed bool) error {
	leave := d.TensorMap.Interleave
	switch {
	case !m.dev.info.TensorMaps:
		return argument("tensor map: %s does not support tensor maps, which require sm_90",
			m.dev)
	case !typed:
		return argument("tensor map: %s is not an element type of tensor maps", d.word)
	case width >= 8 && width != 8*m.width && m.width != 1: // a buffer of bytes may hold any type
		return argument("tensor map: the elements have type %s, but the buffer holds %s", d.word,
			m.word)
	case dimensions < 1 || dimensions > 5:
		return argument("tensor map: the tensor has %d dimensions, expected one to five",
			dimensions)
	case d.Address%16 != 0:
		return argument("tensor map: address of %s is %#x, expected a multiple of 16 bytes",
			m.what, uint64(d.Address))
	case !slices.Contains([]int{0, 32, 64, 128}, d.TensorMap.Swizzle):
		return argument("tensor map: the swizzle is %d bytes, expected 32, 64 or 128",
			d.TensorMap.Swizzle)
	case !slices.Contains([]int{0, 64, 128, 256}, d.TensorMap.Promotion):
		return argument("tensor map: the L2 promotion is %d bytes, expected 64, 128 or 256",
			d.TensorMap.Promotion)
	case !slices.Contains([]int{0, 16, 32}, d.TensorMap.Interleave):
		return argument("tensor map: the interleave is %d bytes, expected 16 or 32",
			d.TensorMap.Interleave)
	case leave != 0 && dimensions < 3:
		return argument(
			"tensor map: a tensor with interleaved channels has %d dimensions, expected three to five",
			dimensions)
	case leave == 32 && d.TensorMap.Swizzle != 32:
		return argument(
			"tensor map: channels interleaved by 32 bytes have a swizzle of %d bytes, expected 32",
			d.TensorMap.Swizzle)
	}
	return nil
}

// setStrides sets the strides, in elements, if the options do not set them. unit is the number of
// elements in the innermost dimension.
func (d *mapping) setStrides(sizes []int, unit int) error {
	last := len(sizes) - 1
	if d.widths == nil {
		d.widths = make([]int, last)
		n := unit
		for i := last; i > 0; i-- {
			n *= sizes[i]
			d.widths[i-1] = n
		}
	}
	if len(d.widths) != last {
		return argument(
			"tensor map: %d strides are given for %d dimensions, expected one for every dimension but the last",
			len(d.widths), len(sizes))
	}
	if d.Steps == nil {
		d.Steps = slices.Repeat([]uint32{1}, len(sizes))
	}
	if len(d.Steps) != len(sizes) {
		return argument("tensor map: %d element strides are given for %d dimensions", len(d.Steps),
			len(sizes))
	}
	return nil
}

// setSizes sets the sizes, and the strides in bytes. It returns the number of elements from the
// first to the last one of the tensor.
func (d *mapping) setSizes(sizes []int, unit, align, width int) (need int, err error) {
	last := len(sizes) - 1
	need = unit
	for i, n := range slices.Backward(sizes) {
		if n < 1 || n > 1<<32 {
			return 0, argument(
				"tensor map: the tensor is %v, expected 1 to 2^32 elements in each dimension",
				sizes)
		}
		if s := d.Steps[last-i]; s < 1 || s > 8 {
			return 0, argument("tensor map: an element stride is %d, expected 1 to 8", s)
		}
		d.Sizes = append(d.Sizes, uint64(n))
		stride := unit
		if i < last {
			stride = d.widths[i]
			bytes := stride * width / 8
			if stride < 1 || stride*width%(8*align) != 0 {
				return 0, argument("tensor map: a stride of %d %s is %d bytes, expected a "+
					"multiple of %d", stride, d.word, bytes, align)
			}
			d.TensorMap.Strides = append(d.TensorMap.Strides, uint64(bytes))
		}
		need += (n - 1) * stride
	}
	return need, nil
}
