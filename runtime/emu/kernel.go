// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"errors"
	"slices"
	"sync"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A kernel is a kernel of a loaded module.
type kernel struct {
	device *Device
	image  *image
	info   device.KernelInfo
	limits *device.Info // limits of the device, or of the module's target

	estimate sync.Once
	least    int // minimum registers of a thread
}

// Kernel decodes a kernel of a module.
func (d *Device) Kernel(h device.Handle, name string, _ int) (device.Kernel, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	m := d.modules[h]
	if m == nil {
		return nil, fault("kernel", nil, "module %d is not loaded", h)
	}
	im, err := m.image(name)
	if err != nil {
		return nil, err
	}
	k := &kernel{device: d, image: im, limits: &d.info}
	if d.options.Target == "" {
		limits, err := infoOf(Options{Target: m.ir.Target.String(), Memory: d.options.Memory})
		if err != nil {
			return nil, err
		}
		k.limits = &limits
	}
	k.info = device.KernelInfo{Registers: min(im.body.regs, 255), Shared: im.sharedSize,
		Local: im.body.local, MaxThreads: k.limits.MaxThreads, Known: true}
	at := uint64(0)
	for _, v := range im.entry.Params {
		at = up(at, uint64(v.Alignment()))
		k.info.Params = append(k.info.Params, device.Param{Offset: int(at), Size: int(v.Size())})
		at += uint64(v.Size())
	}
	return k, nil
}

// Info returns the properties of the kernel. Register counts are estimated from the PTX.
func (k *kernel) Info() device.KernelInfo { return k.info }

// Launch runs the kernel, or records the launch in a graph.
func (k *kernel) Launch(l *device.Launch) error {
	launch := *l // the caller may reuse its memory
	launch.Values, launch.Places = slices.Clone(l.Values), nil
	return k.device.inOrder(l.Stream, func() error { return k.run(&launch) })
}

// run runs a launch.
func (k *kernel) run(l *device.Launch) error {
	if err := k.check(l); err != nil {
		return err
	}
	d := k.device
	before, err := d.after(l)
	if err != nil {
		return err
	}
	params := newRegion("kernel parameters", paramWindow, k.image.body.paramBytes())
	params.init, params.fixed = nil, true
	copy(params.data, l.Values)
	g := &grid{
		device: d, image: k.image, launch: l, params: params, seed: d.options.Seed,
		checks: !d.options.Unchecked, strict: d.options.Strict, observer: d.options.Observer,
		stepper: stepperOf(d.options.Observer), guide: guideOf(d.options.Observer),
		holder: holderOf(d.options.Observer),
	}
	if l.Cooperative && k.image.meeting {
		r, ok := d.memory.allocate("workspace of "+k.image.entry.Name, workspaceSize)
		if !ok {
			return refuse("cuLaunchKernelEx", outOfMemory,
				"the device has no memory left for the workspace of the grid")
		}
		if !k.image.dependents { // otherwise blocks may still run when run returns
			defer d.memory.free(r.base)
		}
		r.written(0, workspaceSize)
		little.PutUint32(r.data, workspaceSize)
		g.workspace = r.base
	}
	g.primary = before
	return d.run(g)
}

// Blocks returns how many blocks fit on one multiprocessor.
func (k *kernel) Blocks(threads, shared int) (int, error) {
	if threads < 1 {
		return 0, fault("occupancy", nil, "%d threads", threads)
	}
	i := k.limits
	n := min(i.Blocks, i.Threads/((threads+31)/32*32))
	if bytes := k.info.Shared + shared + sharedStart; bytes > 0 {
		n = min(n, i.SharedPerSM/bytes)
	}
	return n, nil
}

// Clusters returns how many clusters of a launch fit on the device.
func (k *kernel) Clusters(l *device.Launch) (int, error) {
	blocks, err := k.Blocks(int(l.Block[0]*l.Block[1]*l.Block[2]), int(l.Shared))
	size := int(l.Cluster[0] * l.Cluster[1] * l.Cluster[2])
	if err != nil || size == 0 {
		return 0, errors.Join(err)
	}
	return blocks * k.limits.SMs / size, nil
}
