// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// buffer adds a buffer with n parts to the annotations. The name is that of the pipeline or ring
// to which the buffer belongs.
func (k *Kernel) buffer(name string, kind ir.BufferKind, n int) *ir.Buffer {
	b := &ir.Buffer{Name: name, Kind: kind, Parts: make([]ir.BufferPart, n)}
	k.notes.Buffers = append(k.notes.Buffers, b)
	return b
}

// noteReads records that the n parts of a buffer from index from on are read.
func (k *Kernel) noteReads(b *ir.Buffer, from, n int) {
	if b.First == ir.NoPos {
		b.First = k.m.calls.Here()
	}
	for i := from; i < from+n; i++ {
		b.Parts[i].Read = true
	}
}

// noteFirst sets pos to the position of the current call, unless an earlier call has set it.
//
//go:noinline
func (k *Kernel) noteFirst(pos *ir.Pos) {
	if *pos == ir.NoPos {
		*pos = k.m.calls.Here()
	}
}

// warn records a warning of the protocol rule at pos, about code that may be intended.
func (k *Kernel) warn(pos ir.Pos, format string, args ...any) {
	rule := ruleProtocol
	rule.Severity = diag.Warning
	k.m.faultAt(pos, &rule, format, args...)
}

// A sharedUsage records how the kernel uses a shared variable.
type sharedUsage struct {
	v       *ir.Var
	read    ir.Pos // position of the first read
	written bool
	// named counts the operands that name v, known those of loads, stores and atomics among them
	named, known int
}

// newSharedUsage starts to record how the kernel uses a shared variable.
func (k *Kernel) newSharedUsage(v *ir.Var) *sharedUsage {
	u := &sharedUsage{v: v}
	k.shared.uses = append(k.shared.uses, u)
	return u
}

// name records an operand that names the variable.
func (u *sharedUsage) name() {
	if u != nil {
		u.named++
	}
}

// access records a load or a store. Its operand is counted separately, by name.
func (u *sharedUsage) access(k *Kernel, writes bool) {
	switch {
	case u == nil:
		return
	case writes:
		u.written = true
	case u.read == ir.NoPos:
		u.read = k.m.calls.Here()
	}
	u.known++
}

// combine records an atomic operation on the variable: it reads and writes, and the variable must
// have been written before.
func (u *sharedUsage) combine(k *Kernel) {
	u.access(k, false)
}

// noteVariables records how the kernel uses its shared variables.
func (k *Kernel) noteVariables() {
	for _, u := range k.shared.uses {
		if u.read != ir.NoPos {
			k.notes.Variables = append(k.notes.Variables,
				ir.SharedUse{Var: u.v, Read: u.read, Written: u.written || u.named != u.known})
		}
	}
}
