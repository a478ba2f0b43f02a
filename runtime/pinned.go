// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Pinned is pinned host memory. Copies between it and a device are asynchronous and run at full
// bus speed.
type Pinned[T Element] struct {
	*resource
	elements []T
}

// AllocPinned allocates n elements of pinned memory for d.
func AllocPinned[T Element](d *Device, n int) (*Pinned[T], error) {
	var zero T
	if err := d.checkOpen(); err != nil {
		return nil, err
	}
	if n <= 0 {
		return nil, argument("pinned memory of %d elements, expected one or more", n)
	}
	what := fmt.Sprintf("pinned memory of %d %T", n, zero)
	p, err := d.back.AllocateHost(int64(n) * int64(unsafe.Sizeof(zero)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	m := &Pinned[T]{resource: new(resource), elements: unsafe.Slice((*T)(p), n)}
	return m, d.addResource(m.resource, what, func() error { return d.back.FreeHost(p) })
}

// Slice returns the memory as a slice. It must not be used after Close.
func (p *Pinned[T]) Slice() []T { return p.elements }

// checkCopyable returns an error if p and b cannot be copied to each other.
func (p *Pinned[T]) checkCopyable(b *Buffer[T]) error {
	if p == nil {
		return argument("nil pinned memory")
	}
	if err := p.checkOpen(nil); err != nil {
		return err
	}
	return b.checkLength(len(p.elements), "the pinned memory")
}

// WritePinned starts a copy of p to b, which must have the same length. It does not wait: p must
// not change until the copy is complete.
func (b *Buffer[T]) WritePinned(p *Pinned[T]) error {
	if err := p.checkCopyable(b); err != nil {
		return err
	}
	if err := b.dev.back.Upload(b.at, unsafe.Pointer(&p.elements[0]), b.bytes(), b.on.handle(),
		true); err != nil {
		return fmt.Errorf("write to %s: %w", b.what, err)
	}
	return nil
}

// ReadPinned starts a copy of b to p, which must have the same length. It does not wait: p is
// valid when the copy is complete.
func (b *Buffer[T]) ReadPinned(p *Pinned[T]) error {
	if err := p.checkCopyable(b); err != nil {
		return err
	}
	if err := b.dev.back.Download(unsafe.Pointer(&p.elements[0]), b.at, b.bytes(), b.on.handle(),
		true); err != nil {
		return fmt.Errorf("read of %s: %w", b.what, err)
	}
	return nil
}

// address returns the address at which kernels can access the memory, which is the host address.
func (p *Pinned[T]) address() device.Address {
	return device.Address(uintptr(unsafe.Pointer(&p.elements[0])))
}
