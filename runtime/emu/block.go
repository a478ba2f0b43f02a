// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A block is a running thread block.
type block struct {
	grid    *grid
	cluster *cluster
	id      [3]uint32 // %ctaid
	rank    uint32    // rank in the cluster
	warps   []*warp
	shared  *region
	count   int // number of warps
	alive   int // number of warps with lanes that have not exited

	tensorMemory *tensorMemory // nil until it is used
	tensorGroup  uint8         // cta_group of the first tcgen05 instruction
	collectors   collectors
	registers    registerPool
	groups       []warpgroup

	barriers [16]barrier
	phases   map[uint64]*phaseState // mbarriers, by their offsets in shared memory

	clock              int64 // warp instructions, counted only for a stepper
	executed           int64 // warp instructions
	threadInstructions int64
	changes            int64 // stores, arrivals and other changes that other threads can observe
	fault              *Fault

	dependents bool // a thread has run griddepcontrol.launch_dependents
}

// start initializes b as the block of its grid with index id.
func (b *block) start(id [3]uint32, rank uint32) {
	g := b.grid
	b.id, b.rank = id, rank
	threads := int(g.launch.Block[0] * g.launch.Block[1] * g.launch.Block[2])
	n := (threads + eval.Lanes - 1) / eval.Lanes
	for len(b.warps) < n {
		b.warps = append(b.warps, &warp{block: b, index: len(b.warps)})
	}
	b.alive, b.count = n, n
	b.barriers, b.fault = [16]barrier{}, nil
	b.executed, b.threadInstructions, b.changes, b.clock = 0, 0, 0, 0
	clear(b.phases)
	b.tensorGroup, b.dependents = 0, false
	b.registers = registerPool{
		launch: launchRegisters(g.image.entry, threads, g.device.info.Registers)}
	b.collectors = collectors{}
	b.groups = b.groups[:0]
	if b.tensorMemory != nil {
		b.tensorMemory.reset()
	}
	if b.shared == nil {
		b.shared = newRegion("shared memory", sharedWindow, sharedStart+g.sharedBytes())
		b.shared.named, b.shared.owner = g.image.sharedSymbols, b
	} else {
		clear(b.shared.data)
		clear(b.shared.init)
		b.shared.unwritten = b.shared.unwritten[:0]
	}
	b.shared.low = sharedStart
	if g.image.grouped {
		b.shared.low = groupStart
		b.shared.written(groupStart, groupSize) // the system initializes it
	}
	for i, w := range b.warps[:b.count] {
		w.start(min(eval.Lanes, threads-i*eval.Lanes))
	}
}

// start initializes w as a warp with the given number of threads, before the first instruction of
// the kernel.
func (w *warp) start(threads int) {
	g := w.block.grid
	w.live = uint32(1<<threads - 1)
	w.begun = w.live
	w.ready, w.waiting, w.carry, w.yield = w.ready[:0], w.waiting[:0], 0, false
	w.spins = 0
	w.arrivals, w.copies, w.bulk = 0, nil, nil
	w.tensorLoads, w.tensorStores, w.pairSerial, w.registers = nil, nil, 0, 0
	w.requests = nil
	w.groupJobs, w.groupCount = nil, 0
	clear(w.tensorTail[:])
	w.copyGroups, w.bulkGroups = groupCount{}, groupCount{}
	clear(w.recent[:])
	x, y := uint64(g.launch.Block[0]), uint64(g.launch.Block[1])
	for l := range eval.Lanes {
		t := uint64(w.index*eval.Lanes + l)
		w.thread[0][l], w.thread[1][l], w.thread[2][l] = t%x, t/x%y, t/x/y
	}
	clear(w.localRegion.init)
	if w.root != nil {
		w.spare = append(w.spare, w.root)
	}
	w.root = w.newFrame(g.image.body, 0)
	w.enter(&fragment{mask: w.live, frame: w.root})
	w.tell(EventStart, w.live, nil)
}

// newFrame returns the frame of a call whose local memory begins at local.
func (w *warp) newFrame(p *program, local uint64) *frame {
	var f *frame
	if n := len(w.spare); n > 0 {
		f = w.spare[n-1]
		w.spare = w.spare[:n-1]
	} else {
		f = &frame{}
	}
	*f = frame{program: p, regs: f.regs, preds: f.preds, local: local,
		top: local + uint64(p.local+15)&^15}
	if cap(f.regs) < p.regs {
		f.regs = make([]eval.Vector, p.regs)
	} else {
		f.regs = f.regs[:p.regs]
		clear(f.regs)
	}
	if cap(f.preds) < p.preds {
		f.preds = make([]uint32, p.preds)
	} else {
		f.preds = f.preds[:p.preds]
		clear(f.preds)
	}
	if f.top > w.perLane {
		w.growLocal(f.top)
	}
	if w.block.grid.checks {
		f.markUnset()
	}
	return f
}

// growLocal grows the local memory of each lane to n bytes.
func (w *warp) growLocal(n uint64) {
	n = (n*2 + 255) &^ 255
	data, ok, old := bytesOf(int(n)*eval.Lanes), bytesOf(int(n)*eval.Lanes), &w.localRegion
	for l := range uint64(eval.Lanes) {
		copy(data[l*n:], old.data[l*w.perLane:(l+1)*w.perLane])
		copy(ok[l*n:], old.init[l*w.perLane:(l+1)*w.perLane])
	}
	w.localRegion = region{name: "local memory", base: localWindow, data: data, init: ok}
	w.perLane = n
}

// lanesEnded records that lanes of w have exited, so barriers expect fewer threads.
func (b *block) lanesEnded(w *warp) {
	b.changes++
	if w.live == 0 {
		if b.alive--; b.alive == 0 {
			b.leak(w)
		}
	}
	for i := range b.barriers {
		b.barriers[i].check(b)
	}
	if b.cluster != nil {
		b.cluster.checkBarrier()
	}
}

// live returns the number of threads of the block that have not exited.
func (b *block) live() int {
	n := 0
	for _, w := range b.warps[:b.count] {
		n += bits.OnesCount32(w.live)
	}
	return n
}

// fail ends the block. The first fault of a block is its result; later faults are ignored.
func (b *block) fail(f *Fault) {
	if b.fault == nil {
		b.fault = f
	}
}
