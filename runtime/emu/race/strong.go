// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A strongKey identifies the bytes of a strong access. Only accesses to exactly the same bytes
// synchronize with each other.
type strongKey struct {
	key
	size uint64
}

// A variable is a memory location with strong accesses, and the clocks that its writes publish.
type variable struct {
	sums map[sumKey]*sum
}

// repeats reports whether a lane is about to store the value that the last strong store wrote. A
// thread that reads this value may have read the earlier store.
func (d *Detector) repeats(e *emu.Event, a emu.Address, lane int) bool {
	if e.Kind != emu.EventWrite || len(e.Values) != 1 || e.Size > 4 {
		return false
	}
	c := d.shadow.cell(a.Space, a.Block, a.At/4)
	if c.bytes != nil || len(c.writes) == 0 {
		return false
	}
	x := &c.writes[len(c.writes)-1]
	s := &d.shadow.sites[x.site]
	return s.strong && s.kind == emu.EventWrite && s.size == e.Size && x.at == a.At &&
		x.value == valueAt(e.Values, e.Size, 0, lane)
}

// release makes the view that a strong write releases available to the threads that read the value.
func (d *Detector) release(e *emu.Event, t *thread, a emu.Address, scope isa.Scope) {
	k := strongKey{key{a.Space, a.Block, a.At}, e.Size}
	x := d.strong[k]
	if x == nil {
		x = &variable{sums: make(map[sumKey]*sum)}
		d.strong[k] = x
	}
	if e.Kind != emu.EventAtomic { // a store starts a new release sequence
		clear(x.sums)
	}
	switch block := d.blockOf(t.thread); e.Order {
	case isa.Release, isa.AcqRel, isa.SeqCst:
		x.sum(sumKey{block, scope}).add(&t.view)
	default:
		fenced := d.fencedBefore(t)
		if t.scope == isa.NoScope && len(fenced) == 0 {
			return
		}
		if t.scope != isa.NoScope {
			x.sum(sumKey{block, min(scope, t.scope)}).add(&t.released)
		}
		if len(fenced) > 0 {
			x.sum(sumKey{block, scope}).addClock(fenced)
		}
	}
	t.step()
}

// sum returns the clock that the writes of a block publish with some scope.
func (x *variable) sum(k sumKey) *sum {
	to := x.sums[k]
	if to == nil {
		to = &sum{}
	} else if to.shared {
		to = &sum{all: to.all.clone()}
	}
	x.sums[k] = to
	return to
}

// acquire joins what strong writes released into the view of a thread that read the value: at once
// for an acquire, and at the next fence of the thread for a relaxed read.
func (d *Detector) acquire(e *emu.Event, t *thread, a emu.Address, scope isa.Scope) {
	k := strongKey{key{a.Space, a.Block, a.At}, e.Size}
	now := e.Order == isa.Acquire || e.Order == isa.AcqRel || e.Order == isa.SeqCst
	if d.flags[k] && scope >= isa.ScopeGPU {
		// the thread may have seen what an earlier launch published, without griddepcontrol.wait
		c := only(d.previous, epochOf(d.oldest))
		if now {
			d.learn(t, c)
		} else {
			t.pending = append(t.pending, release{all: c, block: ^uint32(0), scope: isa.ScopeGPU})
		}
	}
	x := d.strong[k]
	if x == nil {
		return
	}
	mine := d.blockOf(t.thread)
	for k, s := range x.sums {
		if !d.reaches(min(scope, k.scope), mine, k.block) {
			t.narrow = append(t.narrow[:min(len(t.narrow), 3)], k.block)
			continue
		}
		s.shared = true
		if now {
			d.learn(t, s.all)
			continue
		}
		r := release{all: s.all, block: k.block, scope: k.scope}
		if n := len(t.pending); n == 0 || !same(t.pending[n-1].all, r.all) {
			t.pending = append(t.pending, r)
		}
	}
}

// reaches reports whether a scope includes threads of both blocks a and b.
func (d *Detector) reaches(s isa.Scope, a, b uint32) bool {
	switch s {
	case isa.ScopeCTA:
		return a == b
	case isa.ScopeCluster:
		return d.clusterIndex(a) == d.clusterIndex(b)
	}
	return true
}
