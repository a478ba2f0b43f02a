// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Reach lets kernels of this device access the memory of another emulated device. The address
// ranges of the two must differ. If their numbers are equal, a device that has not allocated memory
// is renumbered.
func (d *Device) Reach(other device.Device) error {
	o, ok := other.(*Device)
	if !ok {
		return fault("reach", nil, "%s is not emulated", other.Info().Place)
	}
	if o == d {
		return refuse("cuCtxEnablePeerAccess", invalidValue,
			"a device can always access its own memory")
	}
	if d.reaches(o) {
		return nil
	}
	if d.numberOf() == o.numberOf() && !o.renumber(d) && !d.renumber(o) {
		return fault("reach", nil, "both devices have number %d and therefore the same addresses; "+
			"open one as emu:%d", d.numberOf(), d.numberOf()+1)
	}
	d.work <- struct{}{} // no kernel runs during the change
	defer func() { <-d.work }()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.peers = append(d.peers, o)
	d.ordering = o.shared()
	list := append(slices.Clone(*d.memory.peers.Load()), o.memory)
	d.memory.peers.Store(&list)
	o.known(d)
	return nil
}

// reaches reports whether kernels of this device can access the memory of another device.
func (d *Device) reaches(o *Device) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Contains(d.peers, o)
}

// shares reports whether kernels of another device can access the memory of this device, or kernels
// of this device the memory of another.
func (d *Device) shares() bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.multicast || len(d.peers)+len(d.reachedBy) > 0
}

// numberOf returns the number of the device.
func (d *Device) numberOf() int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.options.Number
}

// shared returns the lock that orders atomic operations of this device and of the devices that
// share memory with it.
func (d *Device) shared() *ordering {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.ordering
}

// known records that kernels of device by can access the memory of this device.
func (d *Device) known(by *Device) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.reachedBy = append(d.reachedBy, by)
}

// neighbors returns this device, the devices that it can access, and the devices that can access
// it.
func (d *Device) neighbors() []*Device {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return append(append([]*Device{d}, d.peers...), d.reachedBy...)
}

// renumber gives the device a number that no neighbor of either device uses. It returns false if
// the device already has memory.
func (d *Device) renumber(other *Device) bool {
	used := make(map[int]bool)
	for _, n := range append(d.neighbors(), other.neighbors()...) {
		used[n.numberOf()] = true
	}
	d.memory.mutex.Lock()
	defer d.memory.mutex.Unlock()
	if d.memory.count > 0 {
		return false
	}
	for n := range maxDevices {
		if !used[n] {
			d.mutex.Lock()
			defer d.mutex.Unlock()
			d.options.Number = n
			d.memory.number(n)
			return true
		}
	}
	return false
}

// maxDevices is the number of emulated devices that can have distinct address ranges.
const maxDevices = 256

// A peerWait records since when a launch has waited for changes that other devices make.
type peerWait struct {
	changes int64
	since   time.Time
}

// maxPeerWait is the time without a change by any device that shares memory, after which a launch
// counts as hanging.
const maxPeerWait = 5 * time.Second

// waitsForPeers reports whether a launch in which no cluster makes progress may wait for a launch
// on another device: the devices share memory, and one of them has recently changed something.
func (g *grid) waitsForPeers() bool {
	if !g.device.shares() {
		return false
	}
	if n := g.device.ordering.changes.Load(); n != g.peers.changes || g.peers.since.IsZero() {
		g.peers = peerWait{n, time.Now()}
	}
	if time.Since(g.peers.since) > maxPeerWait {
		return false
	}
	g.stalled = 0
	time.Sleep(50 * time.Microsecond)
	return true
}
