// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"iter"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Multicast is memory of several devices with one multicast address for multimem instructions: a
// store writes to all devices, and a load reduces the values of all devices. This holds for
// multimem.st, multimem.red and multimem.ld_reduce. Other multimem instructions, and all of them at
// an ordinary global address, access one allocation.
type Multicast struct {
	Address device.Address // the multicast address, for multimem
	// address of the memory of each device, for instructions other than multimem
	Parts []device.Address
}

// multicastBase is the offset from the address of the first part to the multicast address.
const multicastBase = maxDevices << 40

// notMultimem is the fault of an instruction other than multimem that accesses a multicast address.
const notMultimem = "an instruction other than multimem accesses a multicast address"

// NewMulticast allocates memory on each device. Multimem instructions on any of the devices can
// access all of it.
func NewMulticast(n int64, devices ...*Device) (*Multicast, error) {
	if n <= 0 || len(devices) == 0 {
		return nil, fault("multicast", nil,
			"%d bytes on %d devices, want a positive size and at least one device", n, len(devices))
	}
	order := devices[0].shared()
	m := &Multicast{}
	var copies []*region
	for i, d := range devices {
		r, ok := d.memory.allocate(fmt.Sprintf("part %d of a multicast allocation", i), n)
		if !ok {
			return nil, refuse("cuMulticastBindMem", outOfMemory, "%d bytes on device %d", n, i)
		}
		copies = append(copies, r)
		m.Parts = append(m.Parts, device.Address(r.base))
		d.mutex.Lock()
		d.ordering, d.multicast = order, true
		d.mutex.Unlock()
	}
	first := copies[0]
	m.Address = device.Address(multicastBase + first.base)
	for _, d := range devices {
		d.memory.mutex.Lock()
		d.memory.insert(&region{name: "multicast memory", base: uint64(m.Address), data: first.data,
			copies: copies})
		d.memory.mutex.Unlock()
	}
	return m, nil
}

// replicas iterates over the devices of a multicast address. In each iteration, the recorded access
// of the lanes is in the memory of that device. An ordinary address has one iteration.
func (w *warp) replicas(q *demand) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !q.multi {
			yield(0)
			return
		}
		found := w.where
		for i := range max(1, found.copies()) {
			w.where = found.replica(i)
			if !yield(i) {
				break
			}
		}
		w.where = found
	}
}

// copies returns the number of devices of a multicast address, or 0 if no lane has one.
func (a *access) copies() (n int) {
	if a.region != nil {
		return len(a.region.copies)
	}
	for _, r := range a.each {
		if r != nil {
			n = max(n, len(r.copies))
		}
	}
	return n
}

// replica returns the same access in the memory of device i.
func (a access) replica(i int) access {
	if a.region != nil {
		if len(a.region.copies) > 0 {
			a.region = a.region.copies[i]
		}
		return a
	}
	for l, r := range a.each {
		if r != nil && len(r.copies) > 0 {
			a.each[l] = r.copies[min(i, len(r.copies)-1)]
		}
	}
	return a
}

// loadReduce decodes multimem.ld_reduce.
func loadReduce(d *decoder) (step, error) {
	op := d.operation()
	x, err := d.transferOf(&op, d.writes())
	if err != nil {
		return nil, err
	}
	combine, err := d.combine(&op)
	if err != nil {
		return nil, err
	}
	at, err := d.address(0)
	if err != nil {
		return nil, err
	}
	q := demand{space: op.Space, size: x.size(), align: x.size(), read: true, order: op.Order,
		scope: op.Scope, multi: true}
	strong := op.Order > isa.Weak
	return ordered(op.Space, strong, func(w *warp, mask uint32) action {
		if !w.locate(&at, mask, &q) {
			return failed
		}
		for range w.replicas(&q) {
			if !w.readable(mask, &q) {
				return failed
			}
		}
		if strong {
			w.yield = true
			w.spins++
		}
		var sums [8]eval.Vector
		for i := range w.replicas(&q) {
			for e := range x.regs {
				for m := mask; m != 0; m &= m - 1 {
					l := bits.TrailingZeros32(m)
					v := read(w.where.regionOf(l).data[w.where.at[l]+uint64(e)*x.width:], x.width)
					if i > 0 {
						v = combine(sums[e][l], v, 0)
					}
					sums[e][l] = v
				}
			}
		}
		for e := range x.regs {
			w.write(&x.regs[e], mask, &sums[e])
		}
		return advance
	}), nil
}

// readable checks that the memory that an access reads is initialized.
func (w *warp) readable(mask uint32, q *demand) bool {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r, at := w.where.regionOf(l), w.where.at[l]
		if w.mustBeWritten(r) && !allSet(r.init[at:at+q.size]) {
			return w.denyAccess(l,
				fmt.Sprintf("read of memory that was never written: %d bytes of %s",
					q.size, r.name))
		}
	}
	return true
}
