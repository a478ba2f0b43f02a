// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// fence handles a memory fence: later strong writes of the thread release its current view, and the
// thread acquires what its earlier strong reads observed.
func (d *Detector) fence(e *emu.Event) {
	scope := scopeOf(e)
	initial := has(e, isa.ModMbarrierInit)
	d.lanes(e, func(_ int, t *thread) {
		if initial {
			t.own[slotInit] = t.own[slotMain]
			t.step()
			return
		}
		if e.Order != isa.Release {
			d.acquirePending(t, scope)
			if scope >= isa.ScopeGPU && sequential(e) {
				d.acquireSequential(t)
			}
		}
		if e.Order != isa.Acquire {
			d.deviceFence(e, t, scope)
			t.released, t.scope = t.view, scope
			t.step()
		}
	})
}

// sequential reports whether a fence is fence.sc or membar.
func sequential(e *emu.Event) bool { return e.Order == isa.SeqCst || e.Order == isa.NoOrder }

// deviceFence records that the earlier accesses of a thread precede a fence of device scope.
func (d *Detector) deviceFence(e *emu.Event, t *thread, scope isa.Scope) {
	if scope < isa.ScopeGPU {
		return
	}
	t.own[slotDevice] = t.own[slotMain]
	d.fences = true
	d.acquireRelease = d.acquireRelease || !sequential(e)
}

// fencedBefore returns the accesses known to a thread that precede a fence of device scope, by
// whatever thread. A strong write of this thread publishes them: it comes after these fences, so a
// fence.sc after a read of its value comes after them too.
func (d *Detector) fencedBefore(t *thread) (c clock) {
	if !d.fences {
		return nil
	}
	c.raise(t.thread*slots+slotDevice, t.own[slotDevice])
	for i, p := range t.base[:min(len(t.base), len(d.threads)/eval.Lanes)] {
		if p == nil {
			continue
		}
		for k := slotDevice; k < partSize; k += slots {
			c.raise(uint32(i*partSize+k), p.x[k])
		}
	}
	return c
}

// acquireSequential orders a fence.sc of a thread after the fence.sc of other threads that precede
// it, because some strong write between them was observed.
func (d *Detector) acquireSequential(t *thread) {
	if !d.fences || d.acquireRelease {
		return
	}
	var c clock
	for i, p := range t.base[:min(len(t.base), len(d.threads)/eval.Lanes)] {
		if p == nil {
			continue
		}
		for k := 0; k < partSize; k += slots {
			if p.x[k+slotDevice] > p.x[k+slotMain] {
				c.raise(uint32(i*partSize+k+slotMain), p.x[k+slotDevice])
			}
		}
	}
	if len(c) > 0 {
		d.learn(t, c)
	}
}

// scopeOf returns the scope of an event, which is gpu by default.
func scopeOf(e *emu.Event) isa.Scope {
	if e.Scope == isa.NoScope {
		return isa.ScopeGPU
	}
	return e.Scope
}

// has reports whether the instruction of an event has a modifier.
func has(e *emu.Event, m isa.Mod) bool {
	if e.Instr == nil || e.Instr.Form == nil {
		return false
	}
	return e.Instr.HasMod(m)
}

// proxyFence makes the accesses of threads visible to asynchronous operations, or to the tensor map
// proxy.
func (d *Detector) proxyFence(e *emu.Event) {
	if e.Instr == nil || e.Instr.Form == nil {
		return
	}
	op := e.Instr.Form.Operation()
	tensor := op.Has(isa.ModTensormapGeneric)
	d.lanes(e, func(_ int, t *thread) {
		switch {
		case tensor && op.Order == isa.Acquire:
			t.mapped = true
			d.acquirePending(t, scopeOf(e))
			return
		case tensor:
			t.own[slotMap] = t.own[slotMain]
			t.released, t.scope = t.view, scopeOf(e)
		default:
			if op.Space != isa.Global {
				t.own[slotShared], t.own[slotCopyShown] = t.own[slotMain], t.own[slotCopy]
				t.proxied[0] = t.view
				if op.Space != isa.SharedCTA {
					t.own[slotPeer] = t.own[slotMain]
				}
			}
			if op.Space.Base() != isa.Shared {
				t.own[slotGlobal] = t.own[slotMain]
				t.proxied[1] = t.view
			}
			t.own[slotInit] = max(t.own[slotInit], t.own[slotShared])
		}
		t.step()
	})
}

// acquirePending joins into the view of a thread what its relaxed reads observed, if the scopes
// include both threads.
func (d *Detector) acquirePending(t *thread, scope isa.Scope) {
	mine := d.blockOf(t.thread)
	t.pending = slices.DeleteFunc(t.pending, func(r release) bool {
		if !d.reaches(min(scope, r.scope), mine, r.block) {
			return false
		}
		d.learn(t, r.all)
		return true
	})
}
