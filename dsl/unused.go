// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// These checks report data that is loaded or computed and never read, which usually means that the
// wrong tile was used.

// A taken records which of several elements were read, and the position of the first read.
type taken struct {
	parts []bool
	first ir.Pos
}

// take records that n elements are read, starting at from.
func (t *taken) take(k *Kernel, from, n int) {
	if t.first == ir.NoPos {
		t.first = k.m.calls.here()
	}
	for i := from; i < from+n; i++ {
		t.parts[i] = true
	}
}

// left visits the runs of elements that were not read, if others were.
func (t *taken) left(visit func(from, to int)) {
	for from := 0; from < len(t.parts) && t.first != ir.NoPos; from++ {
		if t.parts[from] {
			continue
		}
		to := from
		for to+1 < len(t.parts) && !t.parts[to+1] {
			to++
		}
		visit(from, to)
		from = to
	}
}

// doubt records a warning about something that may be intended.
func (k *Kernel) doubt(pos ir.Pos, format string, args ...any) {
	rule := ruleProtocol
	rule.Severity = diag.Warning
	k.m.faultAt(pos, &rule, format, args...)
}

// checkUnread reports data that the kernel loads and never reads, or reads and never loads.
func (k *Kernel) checkUnread() {
	for _, check := range k.unread {
		check()
	}
	for _, u := range k.shared.uses {
		if u.read != ir.NoPos && !u.written && u.named == u.known {
			k.m.faultAt(u.read, &ruleMemory,
				"%s is uninitialized shared memory: the kernel reads it but never writes it",
				u.v.Name)
		}
	}
	k.checkSemaphores()
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
		u.read = k.m.calls.here()
	}
	u.known++
}

// combine records an atomic operation on the variable: it reads and writes, and the variable must
// have been written before.
func (u *usage) combine(k *Kernel) {
	u.access(k, false)
}

// checkTaken reports feeds that no stage requests.
func (p *Pipeline) checkTaken() {
	p.taken.left(func(from, to int) {
		for _, f := range p.feeds[from : to+1] {
			p.k.doubt(p.taken.first,
				"pipeline %s loads tiles of %s, but no consumer uses them; either a consumer reads the wrong tile, or the load is unnecessary",
				p.name, f.from.name)
		}
	})
}

// checkTaken reports tiles that are copied and never used.
func (p *AsyncPipeline) checkTaken() {
	p.taken.left(func(from, to int) {
		for i := from; i <= to; i++ {
			p.k.doubt(p.taken.first,
				"pipeline %s loads tile %d, %s, but no consumer uses it; either a consumer reads the wrong tile, or the load is unnecessary",
				p.name, i, p.tiles[i])
		}
	})
}

// checkTaken reports accumulator columns that are never read.
func (t *TMEM) checkTaken() {
	t.taken.left(func(from, to int) {
		if slices.Contains(t.taken.parts, true) {
			t.k.doubt(t.taken.first, "columns %d to %d of %s are computed but never read", from, to,
				t.name)
		}
	})
}
