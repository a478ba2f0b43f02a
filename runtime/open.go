// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/driver"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Device is a GPU or an emulated device.
type Device struct {
	back device.Device
	info device.Info

	mutex     sync.Mutex
	peers     []device.Device // devices whose memory kernels can access; see Reach
	serial    int
	resources map[*resource]int // open resources, numbered in order of creation
	closed    atomic.Bool
}

// Info has the properties and limits of a device.
type Info = device.Info

// Open opens a device by name. "cuda" and "cuda:0" are the first GPU. "emu:sm_90a" is an emulated
// device with the limits of a target, and "emu" an emulated device that runs modules for every
// target. Emulated devices with different numbers, as in "emu:1" and "emu:sm_90a:1", have
// different address ranges. "" is the first GPU, or an emulated device if there is no GPU.
func Open(name string) (*Device, error) {
	kind, rest, numbered := strings.Cut(name, ":")
	switch kind {
	case "", "cuda":
		n := 0
		if numbered {
			var err error
			if n, err = strconv.Atoi(rest); err != nil || n < 0 || kind == "" {
				return nil, argument("%q is not a device; the first GPU is cuda:0", name)
			}
		}
		d, err := openGPU(n)
		if name == "" && errors.Is(err, ErrAbsent) {
			return openEmulator("emu")
		}
		if err != nil {
			return nil, fmt.Errorf("open %q: %w", name, err)
		}
		return d, nil
	case "emu":
		return openEmulator(name)
	}
	return nil, argument("%q is not a device; the first GPU is cuda:0", name)
}

// openGPU opens the GPU with index n.
func openGPU(n int) (*Device, error) {
	l, err := driver.Find()
	if err != nil {
		return nil, err
	}
	c, err := l.Open(n)
	if err != nil {
		return nil, err
	}
	return On(c), nil
}

// openEmulator opens an emulated device.
func openEmulator(name string) (*Device, error) {
	o, err := emu.ParsePlace(name)
	if err != nil {
		return nil, argument("%v", err)
	}
	d, err := emu.New(o)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", name, err)
	}
	return On(d), nil
}

// Count returns the number of GPUs that Open can open.
func Count() (int, error) {
	l, err := driver.Find()
	if errors.Is(err, ErrAbsent) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return l.Count()
}

// On returns a Device for an implementation of device.Device. It is for tests, and for devices
// that Open does not support.
func On(d device.Device) *Device {
	return &Device{back: d, info: d.Info(), resources: make(map[*resource]int)}
}

// Info returns the properties and limits of d.
func (d *Device) Info() Info { return d.info }

// String returns the name of the device, which Open accepts.
func (d *Device) String() string { return d.info.Place }

// Memory returns the free and the total memory in bytes.
func (d *Device) Memory() (free, total int64, err error) {
	if err := d.checkOpen(); err != nil {
		return 0, 0, err
	}
	return d.back.Memory()
}

// Sync waits until all work is done. It returns errors of kernels that no earlier call
// returned.
func (d *Device) Sync() error {
	if err := d.checkOpen(); err != nil {
		return err
	}
	return d.back.Synchronize()
}

// SyncContext waits as Sync does, but also returns when the context ends. The work on the device
// continues.
func (d *Device) SyncContext(ctx context.Context) error {
	if err := d.checkOpen(); err != nil {
		return err
	}
	return within(ctx, d.back.Synchronize)
}

// Do calls work on a thread on which the device is current, as libraries such as cuBLAS require.
func (d *Device) Do(work func() error) error {
	if err := d.checkOpen(); err != nil {
		return err
	}
	return d.back.Do(work)
}

// Lost returns the error that made the device unusable, or nil. A kernel with an illegal memory
// access makes the device unusable for the whole process; a new process can use it again.
func (d *Device) Lost() error {
	if d == nil {
		return argument("a nil device")
	}
	return d.back.Lost()
}

// Reach lets kernels on d access the memory of another device.
func (d *Device) Reach(other *Device) error {
	if other == nil {
		return argument("%s cannot reach nil", d)
	}
	if err := errors.Join(d.checkOpen(), other.checkOpen()); err != nil {
		return err
	}
	if err := d.back.Reach(other.back); err != nil {
		return err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.peers = append(d.peers, other.back)
	return nil
}

// canReach reports whether Reach has enabled access to the memory of another device.
func (d *Device) canReach(other *Device) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Contains(d.peers, other.back)
}

// Close closes all resources of the device, and the device.
func (d *Device) Close() error {
	if d == nil {
		return argument("cannot close a nil device")
	}
	d.mutex.Lock()
	if d.closed.Swap(true) {
		d.mutex.Unlock()
		return fmt.Errorf("device %s: %w already", d, ErrClosed)
	}
	things := d.resources
	d.resources = nil
	d.mutex.Unlock()
	var errs []error
	known := d.back.Lost() != nil
	if !known {
		errs = append(errs, d.back.Synchronize())
	}
	newestFirst := slices.SortedFunc(maps.Keys(things), func(a,
		b *resource) int {
		return cmp.Compare(things[b], things[a])
	})
	for _, t := range newestFirst {
		t.closed.Store(true)
		if d.back.Lost() == nil {
			errs = append(errs, t.free())
		}
	}
	if lost := d.back.Lost(); lost != nil {
		if errs = nil; !known { // the error has been returned before
			errs = append(errs, lost)
		}
	}
	return errors.Join(append(errs, d.back.Close())...)
}

// checkOpen returns an error if d is nil or closed.
func (d *Device) checkOpen() error {
	if d == nil {
		return argument("a nil device")
	}
	if d.closed.Load() {
		return fmt.Errorf("device %s: %w", d, ErrClosed)
	}
	return nil
}

// addResource registers a resource with the function that frees it.
func (d *Device) addResource(t *resource, what string, free func() error) error {
	t.dev, t.what, t.free = d, what, free
	d.mutex.Lock()
	if !d.closed.Load() {
		d.serial++
		d.resources[t] = d.serial
		d.mutex.Unlock()
		return nil
	}
	d.mutex.Unlock()
	return errors.Join(fmt.Errorf("device %s: %w", d, ErrClosed), free())
}

// removeResource removes a resource from the open ones, and reports whether it was open.
func (d *Device) removeResource(t *resource) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	_, ok := d.resources[t]
	delete(d.resources, t)
	return ok
}
