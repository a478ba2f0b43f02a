// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// An Element is a number type of fixed size, which can be the element type of buffers.
type Element interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// An Address is an address in the memory of a device. As a launch argument it is not checked.
type Address = device.Address

// A Buffer is memory of a device, or a slice of such memory.
type Buffer[T Element] struct {
	memory
	on   *Stream
	part bool
}

// memory holds the properties of a buffer that do not depend on its element type.
type memory struct {
	*resource
	at    device.Address
	count int
	width int
	word  string // name of the Go element type
}

func (m *memory) bytes() int64 { return int64(m.count) * int64(m.width) }

// Alloc allocates a buffer of n elements. Its contents are undefined.
func Alloc[T Element](d *Device, n int) (*Buffer[T], error) {
	var zero T
	b := &Buffer[T]{
		memory: memory{resource: new(resource), count: n, width: int(unsafe.Sizeof(zero)),
			word: fmt.Sprintf("%T", zero)}}
	if err := d.checkOpen(); err != nil {
		return nil, err
	}
	if n <= 0 || n > math.MaxInt64/b.width {
		return nil, argument("a buffer of %d elements, expected one or more", n)
	}
	what := fmt.Sprintf("buffer of %d %s", n, b.word)
	at, err := d.back.Allocate(b.bytes())
	if err != nil {
		return nil, fmt.Errorf("%s, %d bytes: %w", what, b.bytes(), err)
	}
	b.at = at
	if err := d.addResource(b.resource, what, func() error { return d.back.Free(at) }); err != nil {
		return nil, err
	}
	return b, nil
}

// view returns a buffer for memory that belongs to another resource.
func view[T Element](t *resource, at device.Address, bytes int64) *Buffer[T] {
	var zero T
	width := int(unsafe.Sizeof(zero))
	return &Buffer[T]{
		memory: memory{resource: t, at: at, count: int(bytes) / width, width: width,
			word: fmt.Sprintf("%T", zero)}, part: true}
}

// Upload allocates a buffer and copies xs to it.
func Upload[T Element](d *Device, xs []T) (*Buffer[T], error) {
	b, err := Alloc[T](d, len(xs))
	if err != nil {
		return nil, err
	}
	if err := b.Write(xs); err != nil {
		_ = b.Close() // the first error is more useful
		return nil, err
	}
	return b, nil
}

// Download returns a copy of the contents of b.
func Download[T Element](b *Buffer[T]) ([]T, error) {
	if b == nil {
		return nil, argument("cannot download a nil buffer")
	}
	xs := make([]T, b.count)
	return xs, b.Read(xs)
}

// Len returns the number of elements.
func (b *Buffer[T]) Len() int { return b.count }

// Address returns the address of b on the device, for code that does not use buffers.
func (b *Buffer[T]) Address() Address { return b.at }

// On returns b with another stream: copies and fills of the result are ordered on s.
func (b *Buffer[T]) On(s *Stream) *Buffer[T] {
	c := *b
	c.on, c.part = s, true
	return &c
}

// Slice returns the part of b from element lo up to, but not including, hi. It shares the memory
// of b and becomes invalid when b is closed.
func (b *Buffer[T]) Slice(lo, hi int) (*Buffer[T], error) {
	if err := b.checkUsable(); err != nil {
		return nil, err
	}
	if lo < 0 || hi > b.count || lo >= hi {
		return nil, argument("cannot slice elements %d to %d of a %s", lo, hi, b.what)
	}
	c := *b
	c.at += device.Address(lo * b.width)
	c.count, c.part = hi-lo, true
	return &c, nil
}

// Close frees the memory. A slice cannot be closed.
func (b *Buffer[T]) Close() error {
	if b == nil {
		return argument("cannot close a nil buffer")
	}
	if b.part {
		return argument(
			"cannot close a slice of a %s, or a buffer that a stream allocated: close the whole buffer",
			b.what)
	}
	return b.resource.Close()
}

// checkUsable returns an error if b or its stream cannot be used.
func (b *Buffer[T]) checkUsable() error {
	if b == nil {
		return argument("a nil buffer")
	}
	if err := b.checkOpen(nil); err != nil {
		return err
	}
	return b.on.checkUsable(b.dev)
}

// checkLength returns an error if b cannot be used, or does not have n elements.
func (b *Buffer[T]) checkLength(n int, what string) error {
	if err := b.checkUsable(); err != nil {
		return err
	}
	if n != b.count {
		return argument("%s has %d elements, but the buffer has %d; use Slice for a part of it",
			what, n, b.count)
	}
	return nil
}

// Write copies xs to b, which must have the same length.
func (b *Buffer[T]) Write(xs []T) error {
	if err := b.checkLength(len(xs), "the slice"); err != nil {
		return err
	}
	if err := b.dev.back.Upload(b.at, unsafe.Pointer(&xs[0]), b.bytes(), b.on.handle(),
		false); err != nil {
		return fmt.Errorf("write to %s: %w", b.what, err)
	}
	return nil
}

// Read copies b to xs, which must have the same length.
func (b *Buffer[T]) Read(xs []T) error {
	if err := b.checkLength(len(xs), "the slice"); err != nil {
		return err
	}
	if err := b.dev.back.Download(unsafe.Pointer(&xs[0]), b.at, b.bytes(), b.on.handle(),
		false); err != nil {
		return fmt.Errorf("read of %s: %w", b.what, err)
	}
	return nil
}

// Fill sets every element to x. For elements of eight bytes, both halves of x must be equal.
func (b *Buffer[T]) Fill(x T) error {
	if err := b.checkUsable(); err != nil {
		return err
	}
	var pattern uint32
	width, count := b.width, int64(b.count)
	switch b.width {
	case 1:
		pattern = uint32(*(*uint8)(unsafe.Pointer(&x)))
	case 2:
		pattern = uint32(*(*uint16)(unsafe.Pointer(&x)))
	case 4:
		pattern = *(*uint32)(unsafe.Pointer(&x))
	default:
		halves := *(*[2]uint32)(unsafe.Pointer(&x))
		if halves[0] != halves[1] {
			return argument(
				"cannot fill a %s with %v: devices support patterns of at most four bytes",
				b.what, x)
		}
		pattern, width, count = halves[0], 4, 2*count
	}
	if err := b.dev.back.Fill(b.at, pattern, width, count, b.on.handle()); err != nil {
		return fmt.Errorf("fill of %s: %w", b.what, err)
	}
	return nil
}

// CopyFrom copies another buffer of the same length, possibly on another device. It returns
// before the copy is complete.
func (b *Buffer[T]) CopyFrom(from *Buffer[T]) error {
	if from == nil {
		return argument("cannot copy from a nil buffer")
	}
	if err := from.checkUsable(); err != nil {
		return err
	}
	if err := b.checkLength(from.count, "the other buffer"); err != nil {
		return err
	}
	var err error
	if b.dev.back == from.dev.back {
		err = b.dev.back.Copy(b.at, from.at, b.bytes(), b.on.handle())
	} else {
		// a copy between devices is issued by the source device
		err = from.dev.back.CopyTo(b.dev.back, b.at, from.at, b.bytes(), from.on.handle())
	}
	if err != nil {
		return fmt.Errorf("copy of %s: %w", from.what, err)
	}
	return nil
}
