// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// An Observer is notified of every access to global, shared and tensor memory, and of every event
// that may order accesses. The emulator calls Observe for one event at a time, in the order in
// which it performs them. The event is valid only during the call. A device with an observer runs
// its blocks on one goroutine.
type Observer interface {
	Observe(*Event)
}

// An EventKind is the kind of an Event.
type EventKind uint8

// Kinds of event. Each comment lists the fields that are set, besides Block, Warp and Instr.
const (
	EventBegin EventKind = iota // a launch begins: Launch
	EventEnd                    // a launch ended
	EventStart                  // threads start: Mask
	EventExit                   // threads end: Mask

	EventRead   // Mask, At, Size, Order, Scope, Proxy, Operation
	EventWrite  // the same for a write, and Values if they are known
	EventAtomic // an atomic read and write

	EventIssue // an asynchronous operation begins: Mask, Operation, Group
	// an operation has made its accesses: Mask, Operation; At is the mbarrier that it signals
	EventComplete
	EventCommit // its thread commits a group of operations: Mask, Group
	EventWait   // threads wait for all but the last Count groups: Mask, Group, Count, Reads

	EventFence      // Mask, Order, Scope, and Form for restrictions
	EventProxyFence // Mask, Order, Scope, and Form for proxies and state spaces

	EventWarpSync // the lanes of Mask have synchronized
	// the lanes of Mask execute an instruction that requires all lanes, after others have exited
	EventPartial
	EventArrive        // threads arrive at named barrier Number of their block: Mask
	EventMeet          // named barrier Number completed
	EventLeave         // threads leave the barrier after waiting: Mask
	EventClusterArrive // Mask, Order
	EventClusterMeet   // the cluster barrier completed
	EventClusterLeave  // Mask, Order

	EventInit       // an mbarrier is initialized: Mask, At, Values
	EventInval      // Mask, At, and the bytes that the mbarrier still expects in Bytes
	EventSignal     // an arrival, expect-tx or complete-tx: Mask, At, Order, Scope
	EventPhase      // a phase of the mbarrier completed: At of lane 0
	EventCount      // effect of the last EventSignal: At of lane 0, Count arrivals, Bytes expected
	EventTest       // threads observed that a phase completed: Mask, At, Order, Scope
	EventUntrue     // mbarrier.try_wait has timed out and returned false: Mask
	EventDependents // griddepcontrol: Mask, and Form for its action
	EventStep       // an instruction, only for a Stepper: Mask
	EventTensor     // orders other tcgen05 instructions: Mask, Form; At and Size if it deallocates
	EventProduct    // tcgen05.mma starts a matrix product: Mask, and the multiplications in Count
)

// A Proxy is the memory proxy of an access.
type Proxy uint8

// Memory proxies.
const (
	ProxyGeneric Proxy = iota
	ProxyAsync
	ProxyTensorMap
	ProxyConstant
)

// A Group is a list of asynchronous operations of a thread that complete together.
type Group uint8

// Groups. NoGroup is for an operation that completes on an mbarrier.
const (
	NoGroup Group = iota
	GroupCopy
	GroupBulk
	GroupMatrix // wgmma groups
	GroupTensor // tcgen05.commit groups
	GroupTensorLoad
	GroupTensorStore
)

// An Address is the address of the first byte of an access. For shared and tensor memory, Block is
// the index of the block whose memory it is.
type Address struct {
	Space isa.Space
	Block uint32
	At    uint64
}

// An Event is what an Observer receives.
type Event struct {
	Kind   EventKind
	Order  isa.Order
	Scope  isa.Scope
	Proxy  Proxy
	Group  Group
	Reads  bool   // waits only for the reads of operations
	Mask   uint32 // lanes
	Block  uint32 // index in the grid
	Warp   uint32 // index in the block
	Number uint32 // number of a named barrier

	Count     int64
	Bytes     int64
	Operation uint64 // 0 for an access of the threads themselves
	At        *[eval.Lanes]Address
	Size      uint64         // bytes of each lane
	Values    []*eval.Vector // stored elements of Size/len(Values) bytes each

	Instr  *ir.Instr // nil at the end of a kernel without ret
	Source string    // the line that .loc names
	Launch *Launching
}

// A Launching describes a launch that begins.
type Launching struct {
	Kernel  string
	Module  *ir.Module
	Launch  *device.Launch
	Threads int // threads per block
	Blocks  int // blocks in the grid
	Cluster int // blocks per cluster
	Symbol  func(Address) string
}

// Place returns the position of an instruction.
func (l *Launching) Place(in *ir.Instr) diag.Place {
	if in == nil {
		return diag.Place{}
	}
	at, _ := l.Module.At(in.Pos)
	return at
}

// observing reports whether the grid has an observer.
func (w *warp) observing() bool { return w.block.grid.observer != nil }

// event returns a new event at the current instruction.
func (w *warp) event(kind EventKind, mask uint32) *Event {
	g := w.block.grid
	e := &g.event
	*e = Event{Kind: kind, Mask: mask, Block: uint32(w.block.number()), Warp: uint32(w.index),
		At: &g.addresses}
	if f := w.cur; f != nil && f.pc < len(f.frame.program.code) {
		in := &f.frame.program.code[f.pc]
		e.Instr, e.Source = in.at, g.image.module.lines[in.source]
	}
	return e
}

// tell reports an event at the current instruction that has no address.
func (w *warp) tell(kind EventKind, mask uint32, op *isa.Operation) {
	if !w.observing() || mask == 0 {
		return
	}
	e := w.event(kind, mask)
	if op != nil {
		e.Order, e.Scope = op.Order, op.Scope
	}
	w.block.grid.observer.Observe(e)
}

// tellAccess reports an access of lanes to the memory that locate found.
func (w *warp) tellAccess(kind EventKind, mask uint32, q *demand, values []*eval.Vector) {
	e := w.event(kind, mask)
	e.Order, e.Scope, e.Proxy, e.Size, e.Values = q.order, q.scope, q.proxy, q.size, values
	if w.setAddresses(e, mask) {
		w.block.grid.observer.Observe(e)
	}
}

// setAddresses stores in e the addresses that locate found. It reports whether some of them are in
// memory whose accesses are reported to observers.
func (w *warp) setAddresses(e *Event, mask uint32) bool {
	for l := range eval.Lanes {
		if mask>>l&1 == 0 {
			continue
		}
		at, ok := w.where.regionOf(l).address(w.where.at[l])
		if !ok {
			e.Mask &^= 1 << l
		}
		e.At[l] = at
	}
	return e.Mask != 0
}

// address returns the address of a byte for observers. ok is false if observers do not receive
// accesses to the region.
func (r *region) address(at uint64) (_ Address, ok bool) {
	switch {
	case r.owner != nil:
		return Address{isa.Shared, uint32(r.owner.number()), at}, true
	case r.base >= globalBase || r.host:
		return Address{Space: isa.Global, At: r.base + at}, true
	}
	return Address{}, false
}

// tellRange reports that an asynchronous operation of a lane accesses n bytes of a region, or that
// the lane itself does if o is nil. The warp may already be at a later instruction.
func (g *grid) tellRange(o *operation, kind EventKind, lane int, r *region, at, n uint64,
	proxy Proxy) {
	if g.observer == nil || o == nil || n == 0 {
		return
	}
	a, ok := r.address(at)
	if !ok {
		return
	}
	e := &g.event
	w := o.warp
	*e = Event{
		Kind: kind, Mask: 1 << lane, Block: uint32(w.block.number()), Warp: uint32(w.index),
		Operation: o.serial, Proxy: proxy,
		At: &g.addresses, Size: n, Instr: o.at, Source: o.source,
	}
	e.At[lane] = a
	g.observer.Observe(e)
}

// tellOperation reports that operations begin or are complete.
func (g *grid) tellOperation(o *operation, kind EventKind, lanes uint32) {
	if g.observer == nil || o == nil {
		return
	}
	e := &g.event
	*e = Event{
		Kind: kind, Mask: lanes, Block: uint32(o.warp.block.number()), Warp: uint32(o.warp.index),
		Operation: o.serial, Group: o.kind,
		Instr: o.at, Source: o.source,
	}
	g.observer.Observe(e)
}

// tellPhase reports that an operation signalled an mbarrier of block k, or that a thread did if o
// is nil.
func (g *grid) tellPhase(o *operation, kind EventKind, lane int, k *block, at uint64) {
	if g.observer == nil {
		return
	}
	e := &g.event
	*e = Event{Kind: kind, Mask: 1 << lane, At: &g.addresses, Size: 8}
	if o != nil {
		e.Block, e.Warp, e.Operation = uint32(o.warp.block.number()), uint32(o.warp.index), o.serial
		e.Instr, e.Source = o.at, o.source
	}
	e.At[lane] = Address{isa.Shared, uint32(k.number()), at}
	g.observer.Observe(e)
}

// begin reports that the grid begins.
func (g *grid) begin() {
	if g.observer == nil {
		return
	}
	n := g.launch.Grid
	size := g.clusterSize()
	b := g.launch.Block
	g.event = Event{Kind: EventBegin, Launch: &Launching{
		Kernel: g.image.entry.Name, Module: g.image.module.ir, Launch: g.launch,
		Threads: int(b[0] * b[1] * b[2]),
		Blocks:  int(n[0] * n[1] * n[2]), Cluster: int(size[0] * size[1] * size[2]),
		Symbol: g.symbol,
	}}
	g.observer.Observe(&g.event)
}

// finish reports that the grid has ended.
func (g *grid) finish() {
	if g.observer != nil {
		g.event = Event{Kind: EventEnd}
		g.observer.Observe(&g.event)
	}
}

// symbol describes an address by the variable or the allocation that contains it.
func (g *grid) symbol(a Address) string {
	switch a.Space {
	case isa.Shared:
		for _, s := range g.image.sharedSymbols {
			if a.At >= s.at && a.At < s.at+s.size {
				return fmt.Sprintf("%s+%d", s.name, a.At-s.at)
			}
		}
		if n := int(a.At) - sharedStart - g.image.sharedSize; n >= 0 {
			return fmt.Sprintf("dynamic shared memory+%d", n)
		}
	case isa.Global:
		if r := g.device.memory.find(a.At); r != nil && a.At < r.end() {
			return fmt.Sprintf("%s+%d", r.name, a.At-r.base)
		}
	}
	return fmt.Sprintf("%s address 0x%x", a.Space.String(), a.At)
}
