// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Allocate allocates device memory.
func (c *Context) Allocate(n int64) (device.Address, error) {
	var a uint64
	err := c.call(cuMemAlloc, uintptr(unsafe.Pointer(&a)), uintptr(n))
	return device.Address(a), err
}

// Free frees device memory.
func (c *Context) Free(a device.Address) error { return c.call(cuMemFree, uintptr(a)) }

// AllocateHost allocates pinned host memory, which the device can access directly.
func (c *Context) AllocateHost(n int64) (unsafe.Pointer, error) {
	const portable = 1 // pinned for all contexts of the process
	var p unsafe.Pointer
	err := c.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n), portable)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// FreeHost frees pinned host memory.
func (c *Context) FreeHost(p unsafe.Pointer) error { return c.call(cuMemFreeHost, uintptr(p)) }

// Upload copies n bytes from the host to the device.
func (c *Context) Upload(to device.Address, from unsafe.Pointer, n int64, stream device.Handle,
	later bool) error {
	if !later && stream == 0 {
		return c.call(cuMemcpyHtoD, uintptr(to), uintptr(from), uintptr(n))
	}
	if err := c.call(cuMemcpyHtoDAsync, uintptr(to), uintptr(from), uintptr(n),
		uintptr(stream)); err != nil || later {
		return err
	}
	return c.WaitStream(stream)
}

// Download copies n bytes from the device to the host.
func (c *Context) Download(to unsafe.Pointer, from device.Address, n int64, stream device.Handle,
	later bool) error {
	if !later && stream == 0 {
		return c.call(cuMemcpyDtoH, uintptr(to), uintptr(from), uintptr(n))
	}
	if err := c.call(cuMemcpyDtoHAsync, uintptr(to), uintptr(from), uintptr(n),
		uintptr(stream)); err != nil || later {
		return err
	}
	return c.WaitStream(stream)
}

// Copy copies n bytes within the device.
func (c *Context) Copy(to, from device.Address, n int64, stream device.Handle) error {
	return c.call(cuMemcpyDtoDAsync, uintptr(to), uintptr(from), uintptr(n), uintptr(stream))
}

// CopyTo copies n bytes to another GPU.
func (c *Context) CopyTo(other device.Device, to, from device.Address, n int64,
	stream device.Handle) error {
	o, ok := other.(*Context)
	if !ok {
		return fmt.Errorf("no peer access between %s and %s", c.info.Place, other.Info().Place)
	}
	return c.call(cuMemcpyPeerAsync, uintptr(to), o.context, uintptr(from), c.context, uintptr(n),
		uintptr(stream))
}

// Fill writes count copies of a pattern of width bytes.
func (c *Context) Fill(to device.Address, pattern uint32, width int, count int64,
	stream device.Handle) error {
	f := map[int]Function{1: cuMemsetD8Async, 2: cuMemsetD16Async, 4: cuMemsetD32Async}[width]
	return c.call(f, uintptr(to), uintptr(pattern), uintptr(count), uintptr(stream))
}

// Reach lets kernels on this GPU access the memory of another GPU.
func (c *Context) Reach(other device.Device) error {
	o, ok := other.(*Context)
	if !ok {
		return fmt.Errorf("no peer access between %s and %s", c.info.Place, other.Info().Place)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.peers[o] || o.device == c.device {
		return nil
	}
	var can int32
	if err := c.call(cuDeviceCanAccessPeer, uintptr(unsafe.Pointer(&can)), c.device,
		o.device); err != nil {
		return err
	}
	if can == 0 {
		return fmt.Errorf("%s cannot access the memory of %s from kernels; only copies between "+
			"them work", c.info.Place, o.info.Place)
	}
	if code := c.callRaw(cuCtxEnablePeerAccess, o.context, 0); code != 0 && code != errPeerEnabled {
		return c.fail(cuCtxEnablePeerAccess, code)
	}
	c.peers[o] = true
	return nil
}

// Encode writes a tensor map to to. The driver requires that the memory is aligned to 64 bytes,
// so the map is encoded in other memory and copied.
func (c *Context) Encode(to *[128]byte, m *device.TensorMap) error {
	// seven extra words, so that the map can start at a multiple of 64 bytes
	words := make([]uint64, 16+7)
	at := unsafe.Pointer(&words[0])
	at = unsafe.Add(at, -uintptr(at)&63)
	// power maps 0, 32, 64, 128 to 0, 1, 2, 3; interleaving starts at 16
	power := func(n int) uintptr {
		switch n {
		case 32:
			return 1
		case 64:
			return 2
		case 128:
			return 3
		case 256:
			return 3
		}
		return 0
	}
	promotion := map[int]uintptr{0: 0, 64: 1, 128: 2, 256: 3}[m.Promotion]
	interleave := map[int]uintptr{0: 0, 16: 1, 32: 2}[m.Interleave]
	swizzle := power(m.Swizzle)
	var fill uintptr
	if m.NaN {
		fill = 1
	}
	// a tensor with one dimension has no strides, but the driver requires a non-nil address
	strides, lower, upper := append([]uint64{}, m.Strides...), append([]int32{}, m.Lower...),
		append([]int32{}, m.Upper...)
	strides, lower, upper = append(strides, 0), append(lower, 0), append(upper, 0)
	var err error
	if m.Im2col {
		err = c.call(cuTensorMapEncodeIm2col, uintptr(at), uintptr(m.Type), uintptr(len(m.Sizes)),
			uintptr(m.Address),
			uintptr(unsafe.Pointer(&m.Sizes[0])), uintptr(unsafe.Pointer(&strides[0])),
			uintptr(unsafe.Pointer(&lower[0])), uintptr(unsafe.Pointer(&upper[0])),
			uintptr(m.Channels), uintptr(m.Pixels), uintptr(unsafe.Pointer(&m.Steps[0])),
			interleave, swizzle, promotion, fill)
	} else {
		err = c.call(cuTensorMapEncodeTiled, uintptr(at), uintptr(m.Type), uintptr(len(m.Sizes)),
			uintptr(m.Address),
			uintptr(unsafe.Pointer(&m.Sizes[0])), uintptr(unsafe.Pointer(&strides[0])),
			uintptr(unsafe.Pointer(&m.Box[0])), uintptr(unsafe.Pointer(&m.Steps[0])),
			interleave, swizzle, promotion, fill)
	}
	if err != nil {
		return err
	}
	*to = *(*[128]byte)(at)
	return nil
}
