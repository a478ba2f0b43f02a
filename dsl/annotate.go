// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Builder calls record in the kernel's annotations what they do and under which conditions. The
// analyzers of package passes/verify/annotated read these annotations.

// maxUses limits the annotated calls of a kernel, and maxUsesPerLine the annotated calls with the
// same source lines.
const (
	maxUses        = 1024
	maxUsesPerLine = 8
)

// shouldAnnotate reports whether a call at the given position should be annotated. It returns
// false if the set of active threads is unknown, or if the limit maxUses or maxUsesPerLine is
// reached.
func (k *Kernel) shouldAnnotate(pos ir.Pos, collective string) bool {
	list := k.notes.Uses
	if k.isDivergent || !k.f.Kernel || len(list) >= maxUses {
		return false
	}
	alike := 0
	for i := len(list) - 1; i >= 0 && i >= len(list)-2*maxUsesPerLine; i-- {
		name := ""
		if c, ok := list[i].What.(*ir.Collective); ok {
			name = c.Name
		}
		if name == collective && k.m.calls.Same(list[i].Pos, pos) {
			alike++
		}
	}
	return alike < maxUsesPerLine
}

// annotate records the action what of the call at pos, under the current conditions and role.
func (k *Kernel) annotate(pos ir.Pos, what ir.Action) {
	k.sharedConds = max(k.sharedConds, len(k.conds))
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

// annotateAccess annotates an access by one thread to the given number of bytes at a.
//
//go:noinline
func (k *Kernel) annotateAccess(a Addr, bytes int64, writes bool, mods []Mod) {
	a.use.access(k, writes)
	a.requireAlignment(bytes)
	if isShared(a.space) && a.k == k && (a.reg != nil || a.v != nil) {
		k.annotateSharedAccess(a, bytes, writes)
	}
	k.annotateBounds(a, bytes, writes, mods)
}

// annotateAtomic annotates an atomic operation on bytes at a, which must have been written before.
//
//go:noinline
func (k *Kernel) annotateAtomic(a Addr, bytes int64) {
	a.use.combine(k)
	a.requireAlignment(bytes)
	k.annotateBounds(a, bytes, true, nil)
}

// annotateBounds annotates an access of the given number of bytes at a, so that analyzers can
// compare it with the bounds of the variable. An access to a constant array that exceeds the
// array is reported at once.
func (k *Kernel) annotateBounds(a Addr, bytes int64, writes bool, mods []Mod) {
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
		if pos := k.m.calls.Caller(); k.shouldAnnotate(pos, "") {
			note := slab.One(&k.accessNotes)
			*note = ir.Access{Space: a.space, Reg: a.reg, Offset: a.off, Bytes: bytes,
				Writes: writes, NoCache: slices.Contains(mods, NC)}
			k.annotate(pos, note)
		}
	}
}

// annotateCollective annotates a call that all threads of the warp, or of the block if block is
// set, must execute. Calls outside conditions are not annotated.
//
//go:noinline
func (k *Kernel) annotateCollective(what string, block bool) {
	if len(k.conds) == 0 || k.role != nil && !k.isConditional() {
		return
	}
	if pos := k.m.calls.Caller(); k.shouldAnnotate(pos, what) {
		k.annotate(pos,
			&ir.Collective{Name: what, Block: block, Values: what != "Sync" && what != "SyncWarp" &&
				what != "SyncCluster"})
	}
}

// annotateWarpOperation annotates an MMA, or the load of its operands, which all lanes of a warp
// must execute.
//
//go:noinline
func (k *Kernel) annotateWarpOperation(what string) {
	if !k.isConditional() {
		return
	}
	if pos := k.m.calls.Caller(); k.shouldAnnotate(pos, what) {
		k.annotate(pos, &ir.Collective{Name: what})
	}
}

// annotateNamedBarrier annotates a call at a named barrier that expects the given number of
// threads.
//
//go:noinline
func (k *Kernel) annotateNamedBarrier(what string, threads int) {
	if pos := k.m.calls.Caller(); k.shouldAnnotate(pos, what) {
		k.annotate(pos, &ir.Collective{Name: what, Most: threads})
	}
}

// isConditional reports whether the current code is under a condition that is not a loop condition.
func (k *Kernel) isConditional() bool {
	return slices.ContainsFunc(k.conds, func(c ir.Condition) bool { return !c.Loop && !c.Left })
}
