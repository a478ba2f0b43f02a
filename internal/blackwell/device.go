// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Device is the model of a GPU. Its methods are not for several goroutines at once.
type Device struct {
	target string
	memory memory
	maps   []device.TensorMap
	loaded []*program
	// Edit, where it is not nil, is done to the PTX of every module: to see that a mistake is found.
	Edit func(text string) string
	Ran  map[string]int // how often each opcode was executed by a warp
}

// errModel is the error of what a test has no need of.
var errModel = errors.New("the model does not do that")

// New is a device of a target: sm_100a, sm_103a or sm_120a.
func New(target string) *Device { return &Device{target: target, Ran: make(map[string]int)} }

// Info is what the device is.
func (d *Device) Info() device.Info {
	capability := 0
	fmt.Sscanf(d.target, "sm_%d", &capability)
	shared := 227 << 10
	if capability >= 120 {
		shared = 99 << 10
	}
	return device.Info{
		Name: "model", Place: "model:" + d.target, Target: d.target, Capability: capability, Memory: 1 << 30, SMs: 4, WarpSize: 32,
		MaxGrid: [3]int{1 << 30, 65535, 65535}, MaxBlock: [3]int{1024, 1024, 64}, MaxThreads: 1024, Threads: 2048, Blocks: 32, Registers: 65536,
		Shared: 48 << 10, SharedOptIn: shared, SharedPerSM: shared + 1024, Clusters: true, TensorMaps: true, MaxParameter: 4096,
	}
}

// Memory is how much there is.
func (d *Device) Memory() (free, total int64, err error) { return 1 << 30, 1 << 30, nil }

// Synchronize has nothing to wait for.
func (d *Device) Synchronize() error { return nil }

// Lost is nil: a failed launch is told where it is made.
func (d *Device) Lost() error { return nil }

// Close does nothing.
func (d *Device) Close() error { return nil }

// Do runs work.
func (d *Device) Do(work func() error) error { return work() }

// Allocate takes memory.
func (d *Device) Allocate(bytes int64) (device.Address, error) {
	return device.Address(d.memory.take(int(bytes))), nil
}

// Free gives memory back.
func (d *Device) Free(at device.Address) error { return d.memory.drop(uint64(at)) }

// AllocateHost is not there.
func (d *Device) AllocateHost(int64) (unsafe.Pointer, error) { return nil, errModel }

// FreeHost is not there.
func (d *Device) FreeHost(unsafe.Pointer) error { return errModel }

// Upload copies to the device.
func (d *Device) Upload(to device.Address, from unsafe.Pointer, bytes int64, _ device.Handle, _ bool) error {
	b, err := d.memory.at(uint64(to), int(bytes))
	copy(b, unsafe.Slice((*byte)(from), bytes))
	return err
}

// Download copies from the device.
func (d *Device) Download(to unsafe.Pointer, from device.Address, bytes int64, _ device.Handle, _ bool) error {
	b, err := d.memory.at(uint64(from), int(bytes))
	copy(unsafe.Slice((*byte)(to), bytes), b)
	return err
}

// Copy copies on the device.
func (d *Device) Copy(to, from device.Address, bytes int64, _ device.Handle) error {
	a, e1 := d.memory.at(uint64(to), int(bytes))
	b, e2 := d.memory.at(uint64(from), int(bytes))
	copy(a, b)
	return errors.Join(e1, e2)
}

// CopyTo is not there.
func (d *Device) CopyTo(device.Device, device.Address, device.Address, int64, device.Handle) error {
	return errModel
}

// Fill fills memory.
func (d *Device) Fill(to device.Address, pattern uint32, width int, count int64, _ device.Handle) error {
	b, err := d.memory.at(uint64(to), int(count)*width)
	for i := range b {
		b[i] = byte(pattern >> (i % width * 8))
	}
	return err
}

// Reach is not there.
func (d *Device) Reach(device.Device) error { return errModel }

// NewStream is the one stream that there is.
func (d *Device) NewStream(device.StreamOptions) (device.Handle, error) { return 0, nil }

// FreeStream does nothing.
func (d *Device) FreeStream(device.Handle) error { return nil }

// WaitStream has nothing to wait for.
func (d *Device) WaitStream(device.Handle) error { return nil }

// StreamDone is true.
func (d *Device) StreamDone(device.Handle) (bool, error) { return true, nil }

// NewEvent is not there.
func (d *Device) NewEvent(bool) (device.Handle, error) { return 0, errModel }

// FreeEvent is not there.
func (d *Device) FreeEvent(device.Handle) error { return errModel }

// Record is not there.
func (d *Device) Record(_, _ device.Handle) error { return errModel }

// WaitFor is not there.
func (d *Device) WaitFor(_, _ device.Handle) error { return errModel }

// WaitEvent is not there.
func (d *Device) WaitEvent(device.Handle) error { return errModel }

// EventDone is not there.
func (d *Device) EventDone(device.Handle) (bool, error) { return false, errModel }

// Elapsed is not there.
func (d *Device) Elapsed(_, _ device.Handle) (float32, error) { return 0, errModel }

// Load reads PTX.
func (d *Device) Load(image device.Image) (device.Loaded, error) {
	text := image.PTX
	if d.Edit != nil {
		text = d.Edit(text)
	}
	p, err := read(image.Name, text)
	if err != nil {
		return device.Loaded{}, err
	}
	d.loaded = append(d.loaded, p)
	return device.Loaded{Module: device.Handle(len(d.loaded)), Assembler: "the model"}, nil
}

// Unload does nothing.
func (d *Device) Unload(device.Handle) error { return nil }

// Kernel is a kernel of a module.
func (d *Device) Kernel(module device.Handle, name string, _ int) (device.Kernel, error) {
	if module < 1 || int(module) > len(d.loaded) {
		return nil, fmt.Errorf("no module %d", module)
	}
	for _, k := range d.loaded[module-1].kernels {
		if k.f.Name == name {
			return &launcher{d, k}, nil
		}
	}
	return nil, fmt.Errorf("no kernel %s", name)
}

// Variable is not there.
func (d *Device) Variable(device.Handle, string) (device.Address, int64, error) {
	return 0, 0, errModel
}

// Begin is not there.
func (d *Device) Begin(device.Handle) error { return errModel }

// End is not there.
func (d *Device) End(device.Handle) (device.Handle, error) { return 0, errModel }

// Replay is not there.
func (d *Device) Replay(_, _ device.Handle) error { return errModel }

// FreeGraph is not there.
func (d *Device) FreeGraph(device.Handle) error { return errModel }

// Executed is how often warps executed opcodes that begin in some way.
func (d *Device) Executed(head string) int {
	n := 0
	for op, times := range d.Ran {
		if strings.HasPrefix(op, head) {
			n += times
		}
	}
	return n
}

// A launcher is a kernel of a loaded module.
type launcher struct {
	d *Device
	k *kernel
}

// Info is what a kernel takes.
func (l *launcher) Info() device.KernelInfo { return device.KernelInfo{MaxThreads: 1024} }

// Blocks is one.
func (l *launcher) Blocks(int, int) (int, error) { return 1, nil }

// Clusters is one.
func (l *launcher) Clusters(*device.Launch) (int, error) { return 1, nil }

// Launch runs the kernel to its end.
func (l *launcher) Launch(x *device.Launch) error { return l.d.run(l.k, x) }
