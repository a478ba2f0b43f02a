// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A site describes the accesses of one instruction.
type site struct {
	instr  *ir.Instr
	source string
	kind   emu.EventKind
	strong bool
	legacy bool // volatile
	scope  isa.Scope
	proxy  emu.Proxy
	async  bool
	size   uint64

	readOnly bool // a load through the read-only cache
	vector   bool // a strong access to several elements
	used     bool // an atomic operation whose result the kernel uses
}

// siteOf returns the index in shadow.sites of the instruction at which an event occurs. It adds the
// instruction on first use.
func (d *Detector) siteOf(e *emu.Event) uint32 {
	x := site{
		instr: e.Instr, source: e.Source, kind: e.Kind, proxy: e.Proxy, async: e.Operation != 0,
		size:   e.Size,
		strong: e.Order > isa.Weak || e.Kind == emu.EventAtomic, legacy: e.Order == isa.Volatile,
		scope: e.Scope,
	}
	if x.strong && x.scope == isa.NoScope {
		x.scope = isa.ScopeGPU
		if e.Order == isa.Volatile || e.Order == isa.MMIO {
			x.scope = isa.ScopeSys
		}
	}
	s := &d.shadow
	if last := s.last.site; int(last) < len(s.sites) && s.last.instr == e.Instr {
		y := &s.sites[last]
		if x.readOnly, x.vector, x.used = y.readOnly, y.vector, y.used; *y == x {
			return last
		}
		x.readOnly, x.vector, x.used = false, false, false
	}
	i, ok := s.index[x]
	if !ok {
		if s.index == nil {
			s.index = make(map[site]uint32)
		}
		i = uint32(len(s.sites))
		s.index[x] = i
		x.readOnly = e.Kind == emu.EventRead && e.Operation == 0 && has(e, isa.ModNC)
		x.vector = x.strong && e.Operation == 0 && e.Instr != nil && e.Instr.Form != nil &&
			e.Instr.Form.Operation().Vec > 1
		x.used = e.Kind == emu.EventAtomic && d.usesResult(e.Instr)
		s.sites = append(s.sites, x)
		d.reach(e.Instr)
	}
	s.last.site, s.last.instr = i, e.Instr
	return i
}

// stampOf returns the stamp of an event: the thread and the agent that made the access, and its
// epoch.
func (d *Detector) stampOf(e *emu.Event, thread, agent, epoch uint32) stamp {
	return stamp{agent: agent, epoch: epoch, thread: thread, site: d.siteOf(e), serial: d.serial}
}

// access handles an access of threads or of an asynchronous operation.
func (d *Detector) access(e *emu.Event) {
	if e.Operation != 0 {
		d.operationAccess(e)
		return
	}
	if e.Kind == emu.EventWrite && e.Mask&(e.Mask-1) != 0 {
		d.overlapping(e)
	}
	i := d.siteOf(e)
	x := &d.shadow.sites[i]
	strong := x.strong
	if e.Kind == emu.EventWrite && !strong {
		d.execute(e)
	}
	for m := e.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		t := d.threadOf(e.Block, e.Warp, l)
		t.last = i + 1
		a := e.At[l]
		if strong && e.Kind != emu.EventWrite {
			d.acquire(e, t, a, x.scope)
		}
		y := stamp{agent: t.thread * slots, epoch: t.own[slotMain], thread: t.thread, site: i,
			serial: d.serial, at: a.At}
		d.remote(e, t, a, slotMain)
		if strong && e.Kind != emu.EventWrite {
			d.stale(e, t, y, a)
		}
		repeats := strong && d.repeats(e, a, l)
		d.touch(e, &t.view, y, a, e.Size, l)
		if strong && e.Kind != emu.EventRead && !repeats {
			d.release(e, t, a, x.scope)
		}
	}
}

// touch compares an access with earlier accesses to the same bytes, reports races, and records
// the access.
func (d *Detector) touch(e *emu.Event, v *view, y stamp, a emu.Address, n uint64, lane int) {
	writes := e.Kind != emu.EventRead
	width := uint64(0)
	if len(e.Values) > 0 {
		width = e.Size / uint64(len(e.Values))
	}
	d.shadow.each(a.Space, a.Block, a.At, n, func(c *cell, at uint64) {
		z := y
		if width > 0 && e.Kind != emu.EventAtomic {
			z.value = valueAt(e.Values, width, at-a.At, lane)
		}
		for i := range c.writes {
			if !d.observed(c.writes[i:], v, &z) {
				d.check(e, v, &c.writes[i], &z, a, at)
			}
		}
		if !writes {
			c.reads = remember(c.reads, z)
			return
		}
		for i := range c.reads {
			d.check(e, v, &c.reads[i], &z, a, at)
		}
		if e.Kind != emu.EventAtomic {
			d.cut(c.writes)
		}
		c.writes = d.keep(c.writes, v, z)
		c.reads = d.keepReads(c.reads, v, d.shadow.sites[z.site].strong)
	})
}

// valueAt returns four bytes of the value that a lane stores, or one byte for smaller elements.
func valueAt(values []*eval.Vector, width, at uint64, lane int) uint32 {
	i := at / width
	if i >= uint64(len(values)) {
		return 0
	}
	return uint32(values[i][lane]>>(8*(at%width))) + 1
}

// remember adds a read to list. It replaces an earlier read by the same thread.
func remember(list []stamp, z stamp) []stamp {
	for i := range list {
		if x := &list[i]; x.agent == z.agent && x.site == z.site {
			*x = z
			return list
		}
	}
	return append(list, z)
}

// keep adds write z to the last writes of a cell, and removes the writes that happen before z.
func (d *Detector) keep(list []stamp, v *view, z stamp) []stamp {
	strong := d.shadow.sites[z.site].strong
	kept := list[:0]
	for _, x := range list {
		// An earlier strong write stays if this write is also strong, because a later weak access
		// may race with it. An earlier weak write stays for the same reason, because it may race
		// with later strong accesses.
		before := d.shadow.sites[x.site].strong
		if len(kept) < 4 && (before && x.agent != z.agent && !d.knows(v, &x) || strong && !before) {
			kept = append(kept, x)
		}
	}
	return append(kept, z)
}

// keepReads removes the reads that are ordered before a write.
func (d *Detector) keepReads(list []stamp, v *view, strong bool) []stamp {
	if len(list) == 0 {
		return list
	}
	kept := list[:0]
	for _, x := range list {
		if before := d.shadow.sites[x.site].strong; before && !d.knows(v, &x) || strong && !before {
			kept = append(kept, x)
		}
	}
	return kept
}

// knows reports whether access x happens before the events with view v.
func (d *Detector) knows(v *view, x *stamp) bool { return v.knows(x.agent, x.epoch) }

// overlapping detects lanes that store different values to one address with one instruction.
func (d *Detector) overlapping(e *emu.Event) {
	last, ascending := emu.Address{}, true
	for m := e.Mask; m != 0; m &= m - 1 {
		a := e.At[bits.TrailingZeros32(m)]
		if last.Space != 0 &&
			(a.Space != last.Space || a.Block != last.Block || a.At < last.At+e.Size) {
			ascending = false
			break
		}
		last = a
	}
	if ascending {
		return
	}
	for m := e.Mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		for n := m & (m - 1); n != 0; n &= n - 1 {
			j := bits.TrailingZeros32(n)
			a, b := e.At[i], e.At[j]
			if a.Space != b.Space || a.Block != b.Block || a.At >= b.At+e.Size ||
				b.At >= a.At+e.Size {
				continue
			}
			if a.At == b.At && sameValues(e.Values, i, j) {
				continue
			}
			d.lanesRace(e, i, j, b)
			return
		}
	}
}

// sameValues reports whether two lanes store the same value.
func sameValues(values []*eval.Vector, i, j int) bool {
	for _, v := range values {
		if v[i] != v[j] {
			return false
		}
	}
	return len(values) > 0
}

// remote records that threads access the shared memory of another block.
func (d *Detector) remote(e *emu.Event, t *thread, a emu.Address, slot uint32) {
	if a.Space == isa.Global || d.blockOf(t.thread) == a.Block {
		return
	}
	d.foreign(e, &t.view,
		stamp{agent: t.thread*slots + slot, epoch: t.own[slot], thread: t.thread, site: d.siteOf(e),
			serial: d.serial, at: a.At}, a)
}

// foreign records an access to the shared memory of a block by a thread or an operation of another
// block.
func (d *Detector) foreign(e *emu.Event, v *view, y stamp, a emu.Address) {
	k := &d.blocks[a.Block]
	if k.ended {
		d.lateRace(e, y, a)
		return
	}
	if k.remote == nil {
		k.remote = make(map[uint32]stamp)
	}
	k.remote[y.agent] = y
	if v.begun {
		return
	}
	n := uint32(d.perWarp * eval.Lanes)
	first := a.Block * n
	for i := first; i < first+n; i++ {
		if v.base.at(i*slots) != 0 {
			return
		}
	}
	d.earlyRace(e, y, a)
}
