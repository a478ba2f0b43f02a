// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Values of CUfunction_attribute.
const (
	funcMaxThreads   = 0
	funcShared       = 1
	funcLocal        = 3
	funcRegisters    = 4
	funcMaxDynamic   = 8
	funcNonPortable  = 14
	portableClusters = 8  // largest cluster size that every device with clusters supports
	maxClusterBlocks = 16 // largest cluster size with the attribute funcNonPortable
)

// A kernel is a kernel of a loaded module.
type kernel struct {
	context  *Context
	function uintptr
	name     string
	info     device.KernelInfo

	mutex   sync.Mutex
	dynamic atomic.Uint32 // current limit of dynamic shared memory
	wide    atomic.Bool   // clusters of more than eight blocks are allowed
}

// Kernel returns a kernel of a module. params is the number of its parameters, or -1. The driver
// does not report that number; if it is unknown, Kernel queries parameters until the driver
// returns an error.
func (c *Context) Kernel(module device.Handle, name string, params int) (device.Kernel, error) {
	k := &kernel{context: c, name: name}
	word := append([]byte(name), 0)
	if err := c.call(cuModuleGetFunction, uintptr(unsafe.Pointer(&k.function)), uintptr(module),
		uintptr(unsafe.Pointer(&word[0]))); err != nil {
		return nil, err
	}
	for _, a := range []struct {
		number uintptr
		to     *int
	}{{funcRegisters, &k.info.Registers}, {funcShared, &k.info.Shared}, {funcLocal, &k.info.Local},
		{funcMaxThreads, &k.info.MaxThreads}} {
		var value int32
		if err := c.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(&value)), a.number,
			k.function); err != nil {
			return nil, err
		}
		*a.to = int(value)
	}
	k.dynamic.Store(uint32(max(0, c.info.Shared-k.info.Shared)))
	if c.library.table[cuFuncGetParamInfo] == nil {
		return k, nil
	}
	k.info.Known = true
	for i := 0; i != params; i++ {
		var offset, size uint64
		switch code := c.callRaw(cuFuncGetParamInfo, k.function, uintptr(i),
			uintptr(unsafe.Pointer(&offset)), uintptr(unsafe.Pointer(&size))); {
		case code == errInvalidValue && params < 0:
			return k, nil // i is the index after the last parameter
		case code != 0:
			return nil, c.fail(cuFuncGetParamInfo, code)
		}
		k.info.Params = append(k.info.Params, device.Param{Offset: int(offset), Size: int(size)})
	}
	return k, nil
}

// Info returns the properties of the kernel that the driver reports.
func (k *kernel) Info() device.KernelInfo { return k.info }

// A launchAttribute is a CUlaunchAttribute.
type launchAttribute struct {
	id    uint32
	_     uint32
	value [16]uint32
}

// Values of CUlaunchAttributeID.
const (
	launchCooperative  = 2
	launchCluster      = 4
	launchProgrammatic = 6
)

// A launchConfig is a CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	_           uint32
	stream      uint64
	attributes  *launchAttribute
	count       uint32
	_           uint32
}

// A packet holds the memory that a launch passes to the driver. The memory does not move, and it
// is reused so that launches do not allocate.
type packet struct {
	args       [11]uintptr
	values     []uintptr // addresses of the kernel's arguments
	config     launchConfig
	attributes [3]launchAttribute
}

// point stores the addresses of the arguments and returns the address of that list. The driver
// also accepts all arguments in one buffer, but then it misinterprets tensor maps.
func (p *packet) point(l *device.Launch) uintptr {
	p.values = slices.Grow(p.values[:0], len(l.Places))
	for _, at := range l.Places {
		p.values = append(p.values, uintptr(unsafe.Pointer(&l.Values[at])))
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(p.values)))
}

// configure sets the launch configuration of the packet.
func (p *packet) configure(l *device.Launch) {
	p.config = launchConfig{grid: l.Grid, block: l.Block, shared: l.Shared,
		stream: uint64(l.Stream)}
	n := 0
	add := func(id uint32, value ...uint32) {
		p.attributes[n] = launchAttribute{id: id}
		copy(p.attributes[n].value[:], value)
		n++
	}
	if l.Cluster[0] > 0 {
		add(launchCluster, l.Cluster[:]...)
	}
	if l.Cooperative {
		add(launchCooperative, 1)
	}
	if l.Programmatic {
		add(launchProgrammatic, 1)
	}
	if n > 0 {
		p.config.attributes, p.config.count = &p.attributes[0], uint32(n)
	}
}

// Launch launches the kernel. The driver copies the argument values before Launch returns.
func (k *kernel) Launch(l *device.Launch) error {
	c := k.context
	if lost := c.lost.Load(); lost != nil {
		return c.lostError(lost)
	}
	if err := k.raiseLimits(l); err != nil {
		return err
	}
	p := c.launches.Get().(*packet)
	f, args := cuLaunchKernel, p.args[:]
	if l.Cluster[0] > 0 || l.Cooperative || l.Programmatic {
		p.configure(l)
		f, args = cuLaunchKernelEx, p.args[:4]
		args[0], args[1], args[2], args[3] = uintptr(unsafe.Pointer(&p.config)), k.function,
			p.point(l), 0
	} else {
		p.args = [11]uintptr{
			k.function, uintptr(l.Grid[0]), uintptr(l.Grid[1]), uintptr(l.Grid[2]),
			uintptr(l.Block[0]), uintptr(l.Block[1]), uintptr(l.Block[2]),
			uintptr(l.Shared), uintptr(l.Stream), p.point(l), 0,
		}
	}
	code := c.run(f, args)
	runtime.KeepAlive(l)
	c.launches.Put(p)
	if code != 0 {
		return c.fail(f, code)
	}
	c.latest.Store(k)
	return nil
}

// run calls a driver function as callRaw does, with arguments in memory that does not move.
func (c *Context) run(f Function, args []uintptr) uintptr {
	t := &c.library.table
	if t[f] == nil {
		return absent
	}
	runtime.LockOSThread()
	code := t[cuCtxSetCurrent](c.current)
	if code = uintptr(uint32(code)); code == 0 {
		code = uintptr(uint32(t[f](args)))
	}
	runtime.UnlockOSThread()
	return code
}

// raiseLimits raises the limits of the kernel if a launch requires more shared memory or larger
// clusters than the defaults.
func (k *kernel) raiseLimits(l *device.Launch) error {
	if l.Shared > k.dynamic.Load() {
		k.mutex.Lock()
		defer k.mutex.Unlock()
		if l.Shared > k.dynamic.Load() {
			if err := k.context.call(cuFuncSetAttribute, k.function, funcMaxDynamic,
				uintptr(l.Shared)); err != nil {
				return fmt.Errorf("cannot allow %d bytes of dynamic shared memory: %w", l.Shared,
					err)
			}
			k.dynamic.Store(l.Shared)
		}
	}
	if l.Cluster[0]*l.Cluster[1]*l.Cluster[2] > portableClusters && !k.wide.Load() {
		if err := k.context.call(cuFuncSetAttribute, k.function, funcNonPortable, 1); err != nil {
			return fmt.Errorf("cannot allow clusters of more than %d blocks: %w", portableClusters,
				err)
		}
		k.wide.Store(true)
	}
	return nil
}

// Blocks returns the maximum number of resident blocks per multiprocessor.
func (k *kernel) Blocks(threads, shared int) (int, error) {
	if err := k.raiseLimits(&device.Launch{Shared: uint32(shared)}); err != nil {
		return 0, err
	}
	var n int32
	err := k.context.call(cuOccupancyMaxActiveBlocksPerMultiprocessor, uintptr(unsafe.Pointer(&n)),
		k.function, uintptr(threads), uintptr(shared))
	return int(n), err
}

// Clusters returns the maximum number of resident clusters on the device.
func (k *kernel) Clusters(l *device.Launch) (int, error) {
	if err := k.raiseLimits(l); err != nil {
		return 0, err
	}
	p := new(packet)
	p.configure(l)
	var n int32
	err := k.context.call(cuOccupancyMaxActiveClusters, uintptr(unsafe.Pointer(&n)), k.function,
		uintptr(unsafe.Pointer(&p.config)))
	return int(n), err
}
