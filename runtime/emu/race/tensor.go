// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// columnBytes is the size of a cell of tensor memory. Tensor memory addresses count columns, and
// the shadow counts bytes.
const columnBytes = 4

// tensorLanes is the number of lanes of tensor memory.
const tensorLanes = 128

// A moveKey identifies the tcgen05.ld or the tcgen05.st operations of a warp.
type moveKey struct {
	warp  uint32
	group emu.Group
}

// movesOf returns the agent of a warp's tcgen05.ld or tcgen05.st operations.
func (d *Detector) movesOf(e *emu.Event, g emu.Group) *agentCount {
	k := moveKey{e.Block*uint32(d.perWarp) + e.Warp, g}
	m := d.moves[k]
	if m == nil {
		m = d.newTensorAgent()
		d.moves[k] = m
	}
	return m
}

// newTensorAgent returns a new agent for tcgen05 operations.
func (d *Detector) newTensorAgent() *agentCount {
	m := &agentCount{agent: d.agents}
	d.agents++
	d.tensorAgents = append(d.tensorAgents, m.agent)
	return m
}

// tensorEvent handles a tcgen05 fence, an allocation or a deallocation.
func (d *Detector) tensorEvent(e *emu.Event) {
	if e.Instr == nil || e.Instr.Form == nil {
		return
	}
	d.reach(e.Instr)
	switch e.Instr.Kind() {
	case isa.KindTcgen05FenceBeforeThreadSync:
		d.lanes(e, func(_ int, t *thread) {
			t.own[slotTensor] = t.own[slotMain]
			t.step()
		})
	case isa.KindTcgen05FenceAfterThreadSync:
		d.lanes(e, func(_ int, t *thread) { t.fenced = t.view })
	case isa.KindTcgen05Dealloc:
		d.deallocate(e)
	case isa.KindTcgen05Alloc:
		if has(e, isa.ModCTAGroup2) {
			d.allocatePair(e)
		}
	}
}

// allocatePair handles an allocation by a pair of blocks. It reports a race unless the start of the
// other block happens before it.
func (d *Detector) allocatePair(e *emu.Event) {
	t := d.threadOf(e.Block, e.Warp, bits.TrailingZeros32(e.Mask))
	peer := emu.Address{Space: isa.Tensor, Block: d.peerOf(e.Block)}
	d.foreign(e, &t.view, d.stampOf(e, t.thread, t.thread*slots, t.own[slotMain]), peer)
}

// peerOf returns the other block of a pair.
func (d *Detector) peerOf(block uint32) uint32 {
	l := d.launch.Launch
	switch g := l.Grid; {
	case l.Cluster[0]%2 == 0:
		return block/g[0]*g[0] + block%g[0] ^ 1
	case l.Cluster[1]%2 == 0:
		return block/(g[0]*g[1])*(g[0]*g[1]) + (block/g[0]%g[1]^1)*g[0] + block%g[0]
	}
	return block ^ 1
}

// deallocate handles a deallocation of tensor memory. It reports operations on the columns whose
// completion does not happen before it.
func (d *Detector) deallocate(e *emu.Event) {
	l := bits.TrailingZeros32(e.Mask)
	t := d.threadOf(e.Block, e.Warp, l)
	a := e.At[l]
	if a.Space != isa.Tensor {
		return
	}
	y := d.stampOf(e, t.thread, t.thread*slots, t.own[slotMain])
	y.value = t.own[slotMain]
	a.At *= columnBytes
	for lane := range uint64(tensorLanes) {
		at := a.At + lane<<16*columnBytes
		d.shadow.each(a.Space, a.Block, at, e.Size, func(c *cell, at uint64) {
			for _, list := range [][]stamp{c.writes, c.reads} {
				for i := range list {
					d.checkTensor(&t.view, &t.view, &list[i], &y, a, at)
				}
			}
			c.writes, c.reads = c.writes[:0], c.reads[:0]
		})
	}
}

// tensorTouch compares an access of an operation to tensor memory with earlier accesses, reports
// races, and records the access.
func (d *Detector) tensorTouch(e *emu.Event, o *operation, y stamp, a emu.Address) {
	y.value = o.main
	a.At *= columnBytes
	d.shadow.each(a.Space, a.Block, a.At, e.Size, func(c *cell, at uint64) {
		for i := range c.writes {
			d.checkTensor(&o.view, &o.fenced, &c.writes[i], &y, a, at)
		}
		if e.Kind == emu.EventRead {
			c.reads = remember(c.reads, y)
			return
		}
		for i := range c.reads {
			d.checkTensor(&o.view, &o.fenced, &c.reads[i], &y, a, at)
		}
		c.writes, c.reads = append(c.writes[:0], y), c.reads[:0]
	})
}

// checkTensor compares an access to tensor memory with an earlier one.
func (d *Detector) checkTensor(v, fenced *view, x, y *stamp, a emu.Address, at uint64) {
	sx, sy := &d.shadow.sites[x.site], &d.shadow.sites[y.site]
	cores, after := d.tensorCores(sx), d.tensorCores(sy)
	switch {
	case x.serial == y.serial:
		return
	case cores && after && (x.agent == y.agent || v.knows(x.thread*slots, x.value)):
		return // tensor-core operations run in issue order
	case x.agent == y.agent && sx.kind == sy.kind:
		return // stores of the same warp
	}
	a.At = at
	if !d.knows(v, x) {
		d.report(d.tensorRace(sx, cores), x, y, a)
		return
	}
	if x.thread/32 == y.thread/32 || fenced == v {
		return
	}
	published := v.knows(x.thread*slots+slotTensor, x.value) || cores
	if published && (fenced.knows(x.agent, x.epoch) || x.agent < d.previous) {
		return
	}
	r := Race{
		Rule: RuleTensor, Severity: diag.Review,
		Message: "tcgen05 operations of different threads without a tcgen05 fence",
		Missing: "tcgen05.fence::after_thread_sync after the wait and before the second operation",
		Fix:     "execute tcgen05.fence::before_thread_sync before the synchronization and tcgen05.fence::after_thread_sync after it",
	}
	if !published {
		r.Missing = "tcgen05.fence::before_thread_sync after the first operation and before the synchronization"
	}
	d.report(r, x, y, a)
}

// tensorCores reports whether the tensor cores execute the operations of a site in order.
func (d *Detector) tensorCores(s *site) bool {
	if s.instr == nil || s.instr.Form == nil {
		return false
	}
	switch s.instr.Kind() {
	case isa.KindTcgen05Mma, isa.KindTcgen05MmaWs, isa.KindTcgen05Cp, isa.KindTcgen05Shift:
		return true
	}
	return false
}

// tensorRace returns the race of two operations on tensor memory. The missing synchronization
// depends on the first one.
func (d *Detector) tensorRace(first *site, cores bool) Race {
	r := Race{Rule: RuleTensor,
		Message: "tensor memory is used by a tcgen05 operation that may not be complete"}
	switch {
	case cores:
		r.Missing = "a tcgen05.commit after the operation, and a wait on its mbarrier"
		r.Fix = "execute tcgen05.commit after the operation, and wait for the phase of its mbarrier before the access"
	case first.kind == emu.EventRead:
		r.Missing = "tcgen05.wait::ld by the warp that loads, and synchronization with it"
		r.Fix = "execute tcgen05.wait::ld after the load and before the barrier or the arrival"
	case first.kind == emu.EventWrite:
		r.Missing = "tcgen05.wait::st by the warp that stores, and synchronization with it"
		r.Fix = "execute tcgen05.wait::st after the store and before the barrier or the arrival"
	default:
		r.Message = "tensor memory is used after it was deallocated"
		r.Missing = "synchronization between the deallocation and the next allocation"
		r.Fix = "let the warp that allocates wait for the deallocation"
	}
	return r
}
