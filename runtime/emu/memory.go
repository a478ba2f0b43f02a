// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Windows of the generic address space. Everything from globalBase on is global memory.
const (
	sharedWindow = 0x0100_0000_0000
	localWindow  = 0x0200_0000_0000
	constWindow  = 0x0300_0000_0000
	paramWindow  = 0x0400_0000_0000
	codeWindow   = 0x0500_0000_0000
	windowSize   = 1 << 32
	globalBase   = 0x7000_0000_0000
	lowestHost   = 1 << 32 // no pinned memory of the host lies below

	// The rank of a block in its cluster stands above the offset in a shared address, as on
	// hardware.
	rankShift = 24
	// The first bytes of shared memory belong to the system, so that no variable has address zero.
	sharedStart = 1024
)

// A region is memory that is bounds-checked as one: an allocation, a variable or a window.
type region struct {
	name  string
	base  uint64 // generic address of the first byte
	data  []byte
	init  []byte // for each byte whether it was written: 0 or 0xff; nil where all were
	fixed bool   // kernels may not write it
	freed bool
	host  bool     // pinned memory of the host, whose address the host uses too
	size  uint64   // of a freed region, whose bytes are gone
	owner *block   // of shared memory
	named []symbol // what lies where, for messages

	copies []*region // of a multicast address: the memory on each device, data is that of the first
}

// A symbol is a named part of a region.
type symbol struct {
	name     string
	at, size uint64
}

// newRegion makes a region of n bytes, which can be accessed as words of any size at multiples of
// it.
func newRegion(name string, base uint64, n int) *region {
	return &region{name: name, base: base, data: bytesOf(n), init: bytesOf(n)}
}

// bytesOf makes n bytes that are aligned to a machine word.
func bytesOf(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// end returns the address behind the region.
func (r *region) end() uint64 { return r.base + max(uint64(len(r.data)), r.size) }

// written marks bytes as written.
func (r *region) written(at, n uint64) {
	if r.init == nil {
		return
	}
	if at == 0 && n == uint64(len(r.data)) {
		r.init = nil
		return
	}
	fill(r.init[at:at+n], 0xff)
}

// fill sets all bytes of b.
func fill(b []byte, x byte) {
	if len(b) == 0 {
		return
	}
	b[0] = x
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// String describes where an address of the region lies.
func (r *region) String() string {
	state := ""
	if r.freed {
		state = ", which was freed"
	}
	return fmt.Sprintf("%s: %d bytes at 0x%x%s", r.name, r.end()-r.base, r.base, state)
}

// A memory is the global memory of a device.
type memory struct {
	mutex sync.Mutex
	list  atomic.Pointer[[]*region] // sorted by base; replaced, never changed
	next  uint64
	used  int64
	count int
	hosts int
	total int64
	peers atomic.Pointer[[]*memory] // memory that kernels here can use too; replaced, never changed
}

func newMemory(total int64, device int) *memory {
	m := &memory{total: total}
	m.list.Store(new([]*region))
	m.peers.Store(new([]*memory))
	m.number(device)
	return m
}

// number chooses the addresses of allocations that follow.
func (m *memory) number(device int) { m.next = globalBase + uint64(device)<<40 }

// insert adds a region to the list.
func (m *memory) insert(r *region) {
	list := slices.Clone(*m.list.Load())
	at := sort.Search(len(list), func(i int) bool { return list[i].base > r.base })
	list = slices.Insert(list, at, r)
	m.list.Store(&list)
}

// pin adds memory of the host at its own address.
func (m *memory) pin(data []byte) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.hosts++
	m.insert(&region{
		name: fmt.Sprintf("pinned memory %d", m.hosts), data: data, host: true,
		base: uint64(uintptr(unsafe.Pointer(&data[0]))),
	})
}

// unpin removes what pin added.
func (m *memory) unpin(p unsafe.Pointer) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	list := slices.Clone(*m.list.Load())
	list = slices.DeleteFunc(list, func(r *region) bool {
		return r.host && r.base == uint64(uintptr(p))
	})
	m.list.Store(&list)
}

// gap is what lies between allocations at least, so that accesses out of bounds are seen.
const gap = 4096

// allocate adds a region of n bytes.
func (m *memory) allocate(name string, n int64) (*region, bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if n > m.total-m.used {
		return nil, false
	}
	m.count++
	if name == "" {
		name = fmt.Sprintf("allocation %d", m.count)
	}
	r := newRegion(name, m.next, int(n))
	m.next += (uint64(n) + gap + 511) &^ 511
	m.used += n
	m.insert(r)
	return r, true
}

// free removes a region. It stays in the list, so that its use is reported, without its bytes.
func (m *memory) free(base uint64) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	r := m.find(base)
	if r == nil || r.base != base || r.freed || r.host {
		return false
	}
	m.used -= int64(len(r.data))
	list := slices.Clone(*m.list.Load())
	at := slices.Index(list, r)
	gone := *r
	gone.freed = true
	list[at] = &gone
	freed := 0
	for _, r := range list { // the oldest of many go
		if r.freed {
			freed++
		}
	}
	if freed > mostFreed {
		list = slices.DeleteFunc(list, func(r *region) bool {
			freed--
			return r.freed && freed > mostFreed/2
		})
	}
	gone.size, gone.data, gone.init = uint64(len(r.data)), nil, nil
	m.list.Store(&list)
	return true
}

// mostFreed is how many freed allocations are remembered.
const mostFreed = 64

// find returns the region that an address lies in, or the one before it.
func (m *memory) find(address uint64) *region {
	list := *m.list.Load()
	i := sort.Search(len(list), func(i int) bool { return list[i].base > address })
	if i == 0 {
		return nil
	}
	return list[i-1]
}

// span returns the region here or in the memory of a peer that holds n bytes at an address, nil
// where none does.
func (m *memory) span(address, n uint64) *region {
	if r := m.own(address, n); r != nil {
		return r
	}
	for _, p := range *m.peers.Load() {
		if r := p.own(address, n); r != nil {
			return r
		}
	}
	return nil
}

// own is span without peers.
func (m *memory) own(address, n uint64) *region {
	r := m.find(address)
	if r == nil || r.freed || address > r.end() || n > r.end()-address {
		return nil
	}
	return r
}

// spaceOf returns the space and the offset in it of a generic address.
func spaceOf(address uint64) (isa.Space, uint64) {
	switch {
	case address >= globalBase:
		return isa.Global, address
	case address-sharedWindow < windowSize:
		return isa.Shared, address - sharedWindow
	case address-localWindow < windowSize:
		return isa.Local, address - localWindow
	case address-constWindow < windowSize:
		return isa.Const, address - constWindow
	case address-paramWindow < windowSize:
		return isa.Param, address - paramWindow
	case address >= lowestHost:
		return isa.Global, address // memory of the host, if it is pinned
	}
	return isa.Generic, address
}

// windowOf returns the generic address of the first byte of a space.
func windowOf(s isa.Space) uint64 {
	switch s.Base() {
	case isa.Shared:
		return sharedWindow
	case isa.Local:
		return localWindow
	case isa.Const:
		return constWindow
	case isa.Param:
		return paramWindow
	}
	return 0
}
