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

// Windows of the generic address space. All addresses from globalBase on are global memory.
const (
	sharedWindow = 0x0100_0000_0000
	localWindow  = 0x0200_0000_0000
	constWindow  = 0x0300_0000_0000
	paramWindow  = 0x0400_0000_0000
	codeWindow   = 0x0500_0000_0000
	windowSize   = 1 << 32
	globalBase   = 0x7000_0000_0000
	lowestHost   = 1 << 32 // pinned host memory is at this address or above

	// On hardware too, a shared address holds the rank of the block in its cluster above the
	// offset.
	rankShift = 24
	// The first bytes of shared memory are reserved by the system, so that no variable has address
	// zero.
	sharedStart = 1024
	// Cooperative groups keep the barriers of tiles in this part of the reserved bytes.
	groupStart, groupSize = 640, 288
	// The workspace of a cooperative launch holds its size and a barrier for all blocks.
	workspaceSize = 8
)

// A region is memory that is bounds-checked as a unit: an allocation, a variable or a window.
type region struct {
	name  string
	base  uint64 // generic address of the first byte
	data  []byte
	init  []byte // per byte: 0xff if initialized, otherwise 0, or nil if all are initialized
	fixed bool   // kernels cannot write it
	freed bool
	// variable is set if a module declares it
	variable bool
	host     bool     // pinned host memory, at the same address as on the host
	size     uint64   // size of a freed region, which has no data
	owner    *block   // block of shared memory
	low      uint64   // for shared memory: the bytes before it are reserved
	named    []symbol // symbols in the region, for messages
	// for shared memory: the last copies of global memory that was never written, for messages
	unwritten []unwrittenCopy

	// For a multicast address: the memory of each device; data is that of the first.
	copies []*region
}

// A symbol is a named part of a region.
type symbol struct {
	name     string
	at, size uint64
}

// newRegion returns a region of n bytes. It can be accessed as words of any size at aligned
// offsets.
func newRegion(name string, base uint64, n int) *region {
	return &region{name: name, base: base, data: bytesOf(n), init: bytesOf(n)}
}

// bytesOf returns n bytes that are aligned to a machine word.
func bytesOf(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// end returns the first address after the region.
func (r *region) end() uint64 { return r.base + max(uint64(len(r.data)), r.size) }

// written marks n bytes from offset at as initialized.
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

// String describes the region for messages.
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
	list  atomic.Pointer[[]*region] // sorted by base; replaced, never modified
	next  uint64
	used  int64
	count int
	hosts int
	total int64
	// peers holds the memory of other devices that kernels of this device can access. The list is
	// replaced, never modified.
	peers atomic.Pointer[[]*memory]
}

func newMemory(total int64, device int) *memory {
	m := &memory{total: total}
	m.list.Store(new([]*region))
	m.peers.Store(new([]*memory))
	m.number(device)
	return m
}

// number sets the address range of later allocations from the device number.
func (m *memory) number(device int) { m.next = globalBase + uint64(device)<<40 }

// insert adds a region to the list.
func (m *memory) insert(r *region) {
	list := *m.list.Load()
	if at := sort.Search(len(list),
		func(i int) bool { return list[i].base > r.base }); at == len(list) {
		list = append(list, r) // concurrent readers still use the shorter list
	} else {
		list = slices.Insert(slices.Clone(list), at, r)
	}
	m.list.Store(&list)
}

// pin adds host memory at its host address, so that kernels can access it.
func (m *memory) pin(data []byte) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.hosts++
	m.insert(&region{
		name: fmt.Sprintf("pinned memory %d", m.hosts), data: data, host: true,
		base: uint64(uintptr(unsafe.Pointer(&data[0]))),
	})
}

// unpin removes host memory that pin added.
func (m *memory) unpin(p unsafe.Pointer) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	list := slices.Clone(*m.list.Load())
	list = slices.DeleteFunc(list, func(r *region) bool {
		return r.host && r.base == uint64(uintptr(p))
	})
	m.list.Store(&list)
}

// gap is the minimum distance between two allocations in bytes, so that an access past the end of
// one allocation is not inside another.
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

// free frees the region that begins at address base. It returns false if there is no such region.
func (m *memory) free(base uint64) bool {
	r := m.find(base)
	if r == nil || r.base != base || r.host {
		return false
	}
	return m.freeAll(map[*region]bool{r: true})
}

// freeAll frees regions. They stay in the list without their bytes, so that later uses are
// reported. It reports whether it freed one.
func (m *memory) freeAll(regions map[*region]bool) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	list := slices.Clone(*m.list.Load())
	freed, found := 0, false
	for i, r := range list {
		if regions[r] && !r.freed {
			gone := *r
			gone.size, gone.data, gone.init, gone.freed = uint64(len(r.data)), nil, nil, true
			m.used -= int64(len(r.data))
			list[i], found = &gone, true
		}
		if list[i].freed {
			freed++
		}
	}
	if freed > maxFreed { // drop the oldest
		list = slices.DeleteFunc(list, func(r *region) bool {
			if r.freed {
				freed--
			}
			return r.freed && freed >= maxFreed/2
		})
	}
	m.list.Store(&list)
	return found
}

// maxFreed limits the number of freed allocations that are kept for messages.
const maxFreed = 64

// find returns the region that contains an address, or the nearest one before it.
func (m *memory) find(address uint64) *region {
	list := *m.list.Load()
	i := sort.Search(len(list), func(i int) bool { return list[i].base > address })
	if i == 0 {
		return nil
	}
	return list[i-1]
}

// span returns the region of this device or of a peer that contains n bytes at an address, or nil.
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

// own returns the region of this device that contains n bytes at an address, or nil. Unlike span,
// it does not search the memory of peers.
func (m *memory) own(address, n uint64) *region {
	r := m.find(address)
	if r == nil || r.freed || address > r.end() || n > r.end()-address {
		return nil
	}
	return r
}

// spaceOf returns the state space of a generic address and the offset in it.
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
		return isa.Global, address // host memory, which is accessible if it is pinned
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
