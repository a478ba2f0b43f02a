// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A TensorMap describes a tensor in a buffer, of which the TMA copies boxes. It is the argument
// for a parameter that is a tensor map, and must not be used after the buffer is closed.
type TensorMap struct {
	bytes  [128]byte
	memory *memory
	word   string // PTX element type
	box    Box
}

// A MapOption sets a property of a tensor map.
type MapOption func(*mapping)

// As sets the element type, such as "tf32" for a buffer of float32; the default is that of the
// buffer.
func As(ptx string) MapOption { return func(m *mapping) { m.word = ptx } }

// Swizzle sets the swizzle pattern, which distributes rows over the banks of shared memory: 32, 64
// or 128 bytes.
func Swizzle(bytes int) MapOption { return func(m *mapping) { m.TensorMap.Swizzle = bytes } }

// Promotion sets how many bytes the L2 cache fetches at once: 64, 128 or 256.
func Promotion(bytes int) MapOption { return func(m *mapping) { m.TensorMap.Promotion = bytes } }

// Interleave sets the interleaved layout for tensors with channels in slices of 16 or 32 bytes,
// such as NC/8HWC8. The sizes are those of the images, the slices, the depth, the height and the
// width, or fewer between the slices and the width. A copy takes one slice of each position in its
// box.
func Interleave(bytes int) MapOption { return func(m *mapping) { m.TensorMap.Interleave = bytes } }

// NaN specifies that out-of-bounds elements are NaN instead of zero.
func NaN() MapOption { return func(m *mapping) { m.TensorMap.NaN = true } }

// Strides sets the distance in elements between successive indices of each dimension except
// the last, which is contiguous. By default the tensor is packed.
func Strides(elements ...int) MapOption {
	return func(m *mapping) { m.widths = append([]int{}, elements...) }
}

// Steps specifies that a box contains every n-th element of a dimension, for each dimension from
// the outermost.
func Steps(each ...int) MapOption {
	return func(m *mapping) {
		m.TensorMap.Steps = nil
		for _, n := range slices.Backward(each) {
			m.TensorMap.Steps = append(m.TensorMap.Steps, uint32(max(0, n)))
		}
	}
}

// Tiled returns a tensor map in tiled mode, through which boxes are copied. Sizes are in order
// from the outermost to the innermost dimension, which is contiguous: rows, columns.
func Tiled[T Element](b *Buffer[T], sizes, box []int, options ...MapOption) (*TensorMap, error) {
	if err := b.checkUsable(); err != nil {
		return nil, fmt.Errorf("tensor map: %w", err)
	}
	m, err := b.mapping(b.word, sizes, options)
	if err != nil {
		return nil, err
	}
	if len(box) != len(sizes) {
		return nil, argument("tensor map: the box has %d dimensions, but the tensor has %d",
			len(box), len(sizes))
	}
	for _, n := range slices.Backward(box) {
		if n < 1 || n > 256 {
			return nil, argument(
				"tensor map: the box is %v, expected 1 to 256 elements in each dimension", box)
		}
		m.Box = append(m.Box, uint32(n))
	}
	inner := box[len(box)-1] * bits(m.word) / 8
	switch {
	case inner%16 != 0:
		return nil, argument("tensor map: rows of a box of %d %s have %d bytes, expected a "+
			"multiple of 16", box[len(box)-1], m.word, inner)
	case m.TensorMap.Swizzle != 0 && inner > m.TensorMap.Swizzle && m.TensorMap.Interleave == 0:
		return nil, argument("tensor map: rows of a box of %d %s have %d bytes, more than the "+
			"swizzle of %d bytes", box[len(box)-1], m.word, inner, m.TensorMap.Swizzle)
	}
	t := &TensorMap{memory: &b.memory, word: m.word,
		box: Box{Sizes: slices.Clone(box), Swizzle: m.TensorMap.Swizzle}}
	return t, t.encode(&m.TensorMap)
}

// Window is the bounding box of an im2col map, with one element for each spatial dimension,
// outermost first. The box contains the pixels at which the first element of the filter is placed.
// Lower is the offset of its first pixel from the first pixel of the image, and Upper the offset
// of its last pixel from the last pixel of the image, as in cuTensorMapEncodeIm2col. A convolution
// with padding p and a filter of r elements has Lower -p and Upper p-(r-1): -1 and -1 for a filter
// of 3 elements with padding 1. Coordinates of copies then start at -p, and offsets of filter
// elements at 0.
type Window struct{ Lower, Upper []int }

// check returns an error for a window that contains no pixel of some dimension, or that starts
// after the first pixel of an image and ends after its last pixel, as no padding does.
func (w Window) check(sizes []int) error {
	for i, lower := range w.Lower {
		switch upper := w.Upper[i]; {
		case lower > 0 && upper > 0:
			return argument(
				"tensor map: a window has the corners %d and %d, but the corners are -1 and -1 for a filter of 3 elements with padding 1",
				lower, upper)
		case sizes[i+1]+upper-lower < 1:
			return argument(
				"tensor map: a window with the corners %d and %d contains none of %d pixels", lower,
				upper, sizes[i+1])
		}
	}
	return nil
}

// Im2col returns a tensor map in im2col mode, for a tensor of three to five dimensions, images
// first and channels last. A copy loads the given numbers of channels and pixels for one position
// in the filter.
func Im2col[T Element](b *Buffer[T], sizes []int, w Window, channels, pixels int,
	options ...MapOption) (*TensorMap, error) {
	if err := b.checkUsable(); err != nil {
		return nil, fmt.Errorf("tensor map: %w", err)
	}
	m, err := b.mapping(b.word, sizes, options)
	if err != nil {
		return nil, err
	}
	spatial := len(sizes) - 2
	switch {
	case len(sizes) < 3:
		return nil, argument(
			"tensor map: the im2col tensor has %d dimensions, expected three to five", len(sizes))
	case len(w.Lower) != spatial || len(w.Upper) != spatial:
		return nil, argument(
			"tensor map: the window corners have %d and %d dimensions, but the tensor has %d spatial dimensions",
			len(w.Lower), len(w.Upper), spatial)
	case channels < 1 || channels > 256 || pixels < 1 || pixels > 1024:
		return nil, argument(
			"tensor map: a copy has %d channels of %d pixels, expected 1 to 256 channels and 1 to 1024 pixels",
			channels, pixels)
	}
	least := []int{0, -1 << 15, -1 << 7, -1 << 4}[spatial]
	for i := spatial - 1; i >= 0; i-- {
		for _, n := range []int{w.Lower[i], w.Upper[i]} {
			if n < least || n >= -least {
				return nil, argument(
					"tensor map: a window corner is %d, but with %d spatial dimensions it must be from %d to %d",
					n, spatial, least, -least-1)
			}
		}
		m.Lower, m.Upper = append(m.Lower, int32(w.Lower[i])), append(m.Upper, int32(w.Upper[i]))
	}
	if err := w.check(sizes); err != nil {
		return nil, err
	}
	m.Im2col, m.Channels, m.Pixels = true, uint32(channels), uint32(pixels)
	t := &TensorMap{memory: &b.memory, word: m.word,
		box: Box{Sizes: make([]int, len(sizes)), Pixels: pixels, Swizzle: m.TensorMap.Swizzle}}
	t.box.Sizes[len(sizes)-1] = channels
	return t, t.encode(&m.TensorMap)
}

// TensorMap returns the tensor map of a matrix in buffer b for the named kernel parameter. Box,
// swizzle and element type are those that the kernel declares; the kernel must be from a
// *dsl.Module.
func (k *Kernel) TensorMap(param string, b Matrix, rows, cols int,
	options ...MapOption) (*TensorMap, error) {
	return k.Tensor(param, b, []int{rows, cols}, options...)
}

// Tensor returns a tensor map as TensorMap does, for a tensor of one to five dimensions. Sizes
// are in order from the outermost to the innermost dimension.
func (k *Kernel) Tensor(param string, b Matrix, sizes []int,
	options ...MapOption) (*TensorMap, error) {
	p, err := k.mapParam(param, b, sizes)
	switch {
	case err != nil:
		return nil, err
	case p.Box.Pixels > 0:
		return nil, argument(
			"kernel %s copies %s in im2col mode; create its tensor map with Images",
			k.name, param)
	}
	m, err := b.tiledMap(sizes, p.Box.Sizes, p.options(options))
	return m, k.wrapError(param, err)
}

// Images returns the im2col tensor map of images in a buffer for the named kernel parameter; see
// Im2col. The kernel declares the numbers of pixels and channels per copy. The first size is the
// number of images, the last the number of channels.
func (k *Kernel) Images(param string, b Matrix, sizes []int, w Window,
	options ...MapOption) (*TensorMap, error) {
	p, err := k.mapParam(param, b, sizes)
	switch {
	case err != nil:
		return nil, err
	case p.Box.Pixels == 0:
		return nil, argument("kernel %s copies %s in tiled mode; create its tensor map with Tensor",
			k.name, param)
	}
	m, err := b.im2col(sizes, w, p.Box.Sizes[len(sizes)-1], p.Box.Pixels, p.options(options))
	return m, k.wrapError(param, err)
}

// mapParam returns the named parameter, which must be a tensor map whose box the source provides.
func (k *Kernel) mapParam(param string, b Matrix, sizes []int) (*Param, error) {
	if k == nil || b == nil {
		return nil, argument("cannot create a tensor map: the kernel or the buffer is nil")
	}
	for i := range k.sig.params {
		p := &k.sig.params[i]
		switch {
		case p.Name != param:
			continue
		case p.Box == nil && p.Points:
			return nil, argument("kernel %s: parameter %s is a pointer and not a tensor map", k.name,
				param)
		case p.Box == nil && p.Type != "" && p.Size != 128:
			return nil, argument("kernel %s: parameter %s has the type %s and is not a tensor map",
				k.name, param, p.Type)
		case p.Box == nil:
			return nil, argument(
				"kernel %s: the module does not describe the box of tensor map %s; create the map with Tiled",
				k.name, param)
		case len(p.Box.Sizes) != len(sizes):
			return nil, argument("kernel %s: %s has %d dimensions, but the tensor is %v", k.name,
				param, len(p.Box.Sizes), sizes)
		}
		return p, nil
	}
	return nil, argument("kernel %s has no parameter %s", k.name, param)
}

// options returns the options that the kernel's declaration requires, followed by those of the
// caller.
func (p *Param) options(more []MapOption) []MapOption {
	return append([]MapOption{As(p.Target), Swizzle(p.Box.Swizzle)}, more...)
}

// wrapError returns err with the names of the kernel and the parameter, or nil.
func (k *Kernel) wrapError(param string, err error) error {
	if err != nil {
		return fmt.Errorf("kernel %s, %s: %w", k.name, param, err)
	}
	return nil
}

// A Matrix is a buffer of any element type.
type Matrix interface {
	tiledMap(sizes, box []int, options []MapOption) (*TensorMap, error)
	im2col(sizes []int, w Window, channels, pixels int, options []MapOption) (*TensorMap, error)
}

func (b *Buffer[T]) tiledMap(sizes, box []int, options []MapOption) (*TensorMap, error) {
	return Tiled(b, sizes, box, options...)
}

func (b *Buffer[T]) im2col(sizes []int, w Window, channels, pixels int,
	options []MapOption) (*TensorMap, error) {
	return Im2col(b, sizes, w, channels, pixels, options...)
}

func (t *TensorMap) encode(m *device.TensorMap) error {
	if err := t.memory.dev.back.Encode(&t.bytes, m); err != nil {
		return fmt.Errorf("tensor map: %w", err)
	}
	return nil
}

// place writes the map.
func (t *TensorMap) place(p *Param, values []byte, d *Device) error {
	if t == nil {
		return argument("a nil tensor map")
	}
	if p.Size != 128 || p.Type != "" && !p.isTensorMap() {
		return mismatch(p, "a tensor map")
	}
	if err := t.memory.checkAccess(d); err != nil {
		return err
	}
	if p.Box != nil &&
		(p.Target != t.word && bits(p.Target) != bits(t.word) || !p.Box.equal(&t.box)) {
		return argument("a tensor map of %s, but the kernel was built for %s",
			t.box.describe(t.word),
			p.Box.describe(p.Target))
	}
	copy(values[p.Offset:], t.bytes[:])
	return nil
}
