// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// buffer adds a buffer with n parts to the annotations.
func (k *Kernel) buffer(name string, kind ir.BufferKind, n int) *ir.Buffer {
	b := &ir.Buffer{Name: name, Kind: kind, Parts: make([]ir.BufferPart, n)}
	k.notes.Buffers = append(k.notes.Buffers, b)
	return b
}

// take records that n parts of a buffer are read, starting at from.
func (k *Kernel) take(b *ir.Buffer, from, n int) {
	if b.First == ir.NoPos {
		b.First = k.m.calls.Here()
	}
	for i := from; i < from+n; i++ {
		b.Parts[i].Read = true
	}
}

// noteFirst records the position of the first call of a kind.
//
//go:noinline
func (k *Kernel) noteFirst(pos *ir.Pos) {
	if *pos == ir.NoPos {
		*pos = k.m.calls.Here()
	}
}

// doubt records a warning about something that may be intended.
func (k *Kernel) doubt(pos ir.Pos, format string, args ...any) {
	rule := ruleProtocol
	rule.Severity = diag.Warning
	k.m.faultAt(pos, &rule, format, args...)
}

// A usage records the accesses to a shared variable.
type usage struct {
	v            *ir.Var
	read         ir.Pos // position of the first read
	written      bool
	named, known int // number of operands that name it, and how many of them are known accesses
}

// used returns the usage of a shared variable.
func (k *Kernel) used(v *ir.Var) *usage {
	u := &usage{v: v}
	k.shared.uses = append(k.shared.uses, u)
	return u
}

// name records an operand that names the variable.
func (u *usage) name() {
	if u != nil {
		u.named++
	}
}

// access records a load or a store, whose operand is also recorded by name.
func (u *usage) access(k *Kernel, writes bool) {
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
func (u *usage) combine(k *Kernel) {
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
