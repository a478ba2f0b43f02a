// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Context is an open GPU: the primary context of one device, shared with other libraries of the
// process.
//
// The driver keeps the current context per thread, and goroutines move between threads. Every
// call therefore locks its thread and makes the context current, which takes nanoseconds. Passing
// the work to a dedicated thread would take microseconds.
type Context struct {
	library *Library
	number  int
	device  uintptr   // CUdevice
	context uintptr   // CUcontext
	current []uintptr // the context as an argument list
	info    device.Info

	launches sync.Pool // pool of *packet

	mutex  sync.Mutex
	graphs map[device.Handle]uintptr // CUgraph by CUgraphExec
	peers  map[*Context]bool

	lost   atomic.Pointer[device.Fault]
	latest atomic.Pointer[kernel] // kernel that was launched last
	closed atomic.Bool
}

var _ device.Device = (*Context)(nil)

// Open opens the GPU with index n.
func (l *Library) Open(n int) (*Context, error) {
	count, err := l.Count()
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= count {
		return nil, fmt.Errorf("%w: cuda:%d; this machine has %s", device.ErrAbsent, n,
			plural(count))
	}
	c := &Context{
		library: l, number: n,
		graphs: make(map[device.Handle]uintptr), peers: make(map[*Context]bool),
	}
	c.launches.New = func() any { return new(packet) }
	var number int32
	if err := l.call(cuDeviceGet, uintptr(unsafe.Pointer(&number)), uintptr(n)); err != nil {
		return nil, err
	}
	c.device = uintptr(number)
	if err := c.properties(); err != nil {
		return nil, err
	}
	if code := l.callRaw(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&c.context)),
		c.device); code != 0 {
		fault := l.fault(cuDevicePrimaryCtxRetain, code)
		if isSticky(code) {
			fault.Note = "the device was lost in an earlier kernel"
			return nil, c.lostError(fault)
		}
		return nil, fault
	}
	c.current = []uintptr{c.context}
	return c, nil
}

func plural(n int) string {
	switch n {
	case 0:
		return "no GPU"
	case 1:
		return "one GPU, cuda:0"
	}
	return fmt.Sprintf("%d GPUs, cuda:0 to cuda:%d", n, n-1)
}

// call calls a driver function with the context current. Pointers among the arguments are written
// as Library.call requires.
//
//go:uintptrescapes
func (c *Context) call(f Function, args ...uintptr) error {
	if code := c.callRaw(f, args...); code != 0 {
		return c.fail(f, code)
	}
	return nil
}

// callRaw calls a driver function as call does, but returns its result code, which may be nonzero
// without an error.
func (c *Context) callRaw(f Function, args ...uintptr) uintptr {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if code := c.library.callRaw(cuCtxSetCurrent, c.current...); code != 0 {
		return code
	}
	return c.library.callRaw(f, args...)
}

// Do calls work on a locked thread on which the context is current, for other libraries.
func (c *Context) Do(work func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if code := c.library.callRaw(cuCtxSetCurrent, c.current...); code != 0 {
		return c.fail(cuCtxSetCurrent, code)
	}
	return work()
}

// fail converts a CUresult to an error. If the error makes the context unusable, it is stored,
// with the name of the kernel that was launched last.
func (c *Context) fail(f Function, code uintptr) error {
	if lost := c.lost.Load(); lost != nil {
		return c.lostError(lost)
	}
	fault := c.library.fault(f, code)
	if !isSticky(code) {
		return fault
	}
	if k := c.latest.Load(); k != nil {
		fault.Note += "; the last kernel launched was " + k.name
	}
	c.lost.CompareAndSwap(nil, fault)
	return c.lostError(c.lost.Load())
}

// lostError returns the error for calls on a lost device. The context cannot be recovered within
// the process: with driver 580 on an H200, resetting it, releasing it and creating another
// context all failed.
func (c *Context) lostError(fault *device.Fault) error {
	return fmt.Errorf(
		"this process can no longer use cuda:%d, and its memory is lost; restart the process: %w",
		c.number, fault)
}

// Lost returns the error that made the device unusable, or nil.
func (c *Context) Lost() error {
	if fault := c.lost.Load(); fault != nil {
		return c.lostError(fault)
	}
	return nil
}

// Info returns the properties of the device.
func (c *Context) Info() device.Info { return c.info }

// Synchronize waits for all work on the device.
func (c *Context) Synchronize() error { return c.call(cuCtxSynchronize) }

// Memory returns the free and the total device memory in bytes.
func (c *Context) Memory() (free, total int64, err error) {
	var f, t uint64
	err = c.call(cuMemGetInfo, uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t)))
	return int64(f), int64(t), err
}

// Close releases the context.
func (c *Context) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	if err := c.library.call(cuDevicePrimaryCtxRelease, c.device); err != nil &&
		c.lost.Load() == nil {
		return err
	}
	return nil
}

// Values of CUdevice_attribute.
const (
	attrMaxThreads        = 1
	attrMaxBlockX         = 2
	attrMaxGridX          = 5
	attrShared            = 8
	attrWarpSize          = 10
	attrRegisters         = 12
	attrClock             = 13
	attrMultiprocessors   = 16
	attrMemoryClock       = 36
	attrMemoryBits        = 37
	attrL2                = 38
	attrThreadsPerSM      = 39
	attrUnifiedAddressing = 41
	attrMajor             = 75
	attrMinor             = 76
	attrSharedPerSM       = 81
	attrCooperative       = 95
	attrSharedOptIn       = 97
	attrBlocksPerSM       = 106
	attrClusters          = 120
	attrTensorMaps        = 127
)

// properties reads the device attributes for Info.
func (c *Context) properties() error {
	var failed error
	attribute := func(n uintptr) int {
		var value int32
		if code := c.library.callRaw(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&value)), n,
			c.device); code != 0 {
			// an old driver lacks the newer attributes
			if n < attrBlocksPerSM && failed == nil {
				failed = c.library.fault(cuDeviceGetAttribute, code)
			}
			return 0
		}
		return int(value)
	}
	three := func(n uintptr) [3]int {
		return [3]int{attribute(n), attribute(n + 1), attribute(n + 2)}
	}
	name, bus := make([]byte, 256), make([]byte, 32)
	if err := c.library.call(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)),
		c.device); err != nil {
		return err
	}
	if err := c.library.call(cuDeviceGetPCIBusId, uintptr(unsafe.Pointer(&bus[0])),
		uintptr(len(bus)), c.device); err != nil {
		return err
	}
	var total uint64
	if err := c.library.call(cuDeviceTotalMem, uintptr(unsafe.Pointer(&total)),
		c.device); err != nil {
		return err
	}
	capability := attribute(attrMajor)*10 + attribute(attrMinor)
	c.info = device.Info{
		Name: cString(name), Place: fmt.Sprintf("cuda:%d", c.number), Bus: cString(bus),
		Memory: int64(total),
		Driver: "CUDA " + c.library.Version(), PTX: c.library.ptx().String(),
		Capability: capability, Target: target(capability),
		L2: attribute(attrL2), SMs: attribute(attrMultiprocessors),
		WarpSize: attribute(attrWarpSize), Clock: attribute(attrClock),
		MemoryClock: attribute(attrMemoryClock), MemoryBits: attribute(attrMemoryBits),
		MaxGrid: three(attrMaxGridX), MaxBlock: three(attrMaxBlockX),
		MaxThreads: attribute(attrMaxThreads), Threads: attribute(attrThreadsPerSM),
		Blocks: attribute(attrBlocksPerSM), Registers: attribute(attrRegisters),
		Shared: attribute(attrShared), SharedOptIn: attribute(attrSharedOptIn),
		SharedPerSM: attribute(attrSharedPerSM),
		Clusters:    attribute(attrClusters) != 0, Cooperative: attribute(attrCooperative) != 0,
		TensorMaps:  attribute(attrTensorMaps) != 0,
		PeerCapable: attribute(attrUnifiedAddressing) != 0, MaxParameter: 4096,
	}
	if capability >= 70 && c.library.version >= 12010 {
		c.info.MaxParameter = 32764
	}
	return failed
}

// target returns the newest PTX target for a compute capability.
func target(capability int) string {
	if capability >= 90 {
		return fmt.Sprintf("sm_%da", capability)
	}
	return fmt.Sprintf("sm_%d", capability)
}

// cString returns the text before the first zero byte.
func cString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}
