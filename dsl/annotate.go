// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Builder calls annotate the kernel with what they do and under which conditions. The analyzers of
// package passes/verify/annotated read that.

// mostUses limits the annotated calls of a kernel, and mostAlike those with the same source lines.
const (
	mostUses  = 1024
	mostAlike = 8
)

// annotates reports whether a call at the given position should be annotated. It returns false if
// the active threads are unknown, or if enough calls like it are annotated already.
func (k *Kernel) annotates(pos ir.Pos, collective string) bool {
	list := k.notes.Uses
	if k.parted || !k.f.Kernel || len(list) >= mostUses {
		return false
	}
	alike := 0
	for i := len(list) - 1; i >= 0 && i >= len(list)-2*mostAlike; i-- {
		name := ""
		if c, ok := list[i].What.(*ir.Collective); ok {
			name = c.Name
		}
		if name == collective && k.m.calls.Same(list[i].Pos, pos) {
			alike++
		}
	}
	return alike < mostAlike
}

// annotate records what a call does, under the current conditions.
func (k *Kernel) annotate(pos ir.Pos, what ir.Action) {
	k.held = max(k.held, len(k.conds))
	if k.notes.Uses == nil {
		k.notes.Uses = make([]ir.Use, 0, 16)
	}
	k.notes.Uses = append(k.notes.Uses,
		ir.Use{Pos: pos, Conds: k.conds, Role: k.roleNote(), What: what})
}

// roleNote returns the annotation of the current role, or nil.
func (k *Kernel) roleNote() *ir.Role {
	if k.role == nil {
		return nil
	}
	return k.role.note
}

// accesses annotates a memory access by a thread to the given number of bytes at a.
//
//go:noinline
func (k *Kernel) accesses(a Addr, bytes int64, writes bool, mods []Mod) {
	a.use.access(k, writes)
	a.aligned(bytes)
	if isShared(a.space) && a.k == k && (a.reg != nil || a.v != nil) {
		k.touches(a, bytes, writes)
	}
	k.reachesFor(a, bytes, writes, mods)
}

// combines annotates an atomic operation on bytes at a, which must have been written before.
//
//go:noinline
func (k *Kernel) combines(a Addr, bytes int64) {
	a.use.combine(k)
	a.aligned(bytes)
	k.reachesFor(a, bytes, true, nil)
}

// reachesFor annotates a memory access. It reports a constant access that exceeds its variable.
func (k *Kernel) reachesFor(a Addr, bytes int64, writes bool, mods []Mod) {
	switch {
	case a.k != k || a.reg == nil && a.v == nil:
	case a.v != nil:
		if size := a.v.Size(); a.v.Dims != nil && a.v.Dims[0] != ir.Unsized &&
			(a.off < 0 || a.off+bytes > size) {
			k.fault(&ruleMemory,
				"out of bounds: the call accesses %d bytes at byte %d of %s, which has %d", bytes,
				a.off, a.v.Name, size)
		}
	case a.space == isa.Global || a.space == isa.Shared || a.space == isa.Local ||
		a.space == isa.Const:
		if pos := k.m.calls.Caller(); k.annotates(pos, "") {
			note := slab.One(&k.accessNotes)
			*note = ir.Access{Space: a.space, Reg: a.reg, Offset: a.off, Bytes: bytes,
				Writes: writes, NoCache: slices.Contains(mods, NC)}
			k.annotate(pos, note)
		}
	}
}

// together annotates a call that all threads of the warp, or of the block, must execute.
//
//go:noinline
func (k *Kernel) together(what string, block bool) {
	if len(k.conds) == 0 || k.role != nil && !k.chosen() {
		return
	}
	if pos := k.m.calls.Caller(); k.annotates(pos, what) {
		k.annotate(pos,
			&ir.Collective{Name: what, Block: block, Values: what != "Sync" && what != "SyncWarp" &&
				what != "SyncCluster"})
	}
}

// lanes annotates an MMA, or a load of its operands, which all lanes of a warp must execute.
//
//go:noinline
func (k *Kernel) lanes(what string) {
	if !k.chosen() {
		return
	}
	if pos := k.m.calls.Caller(); k.annotates(pos, what) {
		k.annotate(pos, &ir.Collective{Name: what})
	}
}

// meetsAt annotates a call at a named barrier that expects the given number of threads.
//
//go:noinline
func (k *Kernel) meetsAt(what string, threads int) {
	if pos := k.m.calls.Caller(); k.annotates(pos, what) {
		k.annotate(pos, &ir.Collective{Name: what, Most: threads})
	}
}

// chosen reports whether the current code is under a condition that is not a loop condition.
func (k *Kernel) chosen() bool {
	return slices.ContainsFunc(k.conds, func(c ir.Condition) bool { return !c.Loop && !c.Left })
}
