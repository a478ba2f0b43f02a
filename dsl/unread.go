// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// What is brought or computed, and never read, is most often a tile that stands where another was meant.

// A taken is which of several things were read, and where the first of them was.
type taken struct {
	parts []bool
	first ir.Pos
}

// take notes that n things from one on are read.
func (t *taken) take(k *Kernel, from, n int) {
	if t.first == ir.NoPos {
		t.first = k.m.calls.here()
	}
	for i := from; i < from+n; i++ {
		t.parts[i] = true
	}
}

// left goes over the runs of things that were not read, where others were.
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

// doubt records what is no mistake for certain.
func (k *Kernel) doubt(pos ir.Pos, format string, args ...any) {
	rule := ruleProtocol
	rule.Severity = diag.Warning
	k.m.faultAt(pos, &rule, format, args...)
}

// checkUnread reports what the kernel brings and nobody reads, and what it reads or waits for and nobody brings.
func (k *Kernel) checkUnread() {
	for _, check := range k.unread {
		check()
	}
	for _, u := range k.shared.uses {
		if u.read != ir.NoPos && !u.written && u.named == u.known {
			k.m.faultAt(u.read, &ruleMemory, "read of uninitialized shared memory: nothing writes %s", u.v.Name)
		}
	}
	k.checkSemaphores()
}

// A usage is what is done with a shared variable.
type usage struct {
	v            *ir.Var
	read         ir.Pos // where it is read first
	written      bool
	named, known int // operands that it stands in, and those of them that are accesses
}

// used follows a shared variable.
func (k *Kernel) used(v *ir.Var) *usage {
	u := &usage{v: v}
	k.shared.uses = append(k.shared.uses, u)
	return u
}

// name notes an operand.
func (u *usage) name() {
	if u != nil {
		u.named++
	}
}

// access notes a load or a store, whose operand comes too.
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

// combine notes that what the variable holds is combined with something, by an atomic operation: it is read and written, and something else
// wrote it first.
func (u *usage) combine(k *Kernel) {
	u.access(k, false)
}

// checkTaken reports feeds that no stage is asked for.
func (p *Pipeline) checkTaken() {
	p.taken.left(func(from, to int) {
		for _, f := range p.feeds[from : to+1] {
			p.k.doubt(p.taken.first, "pipeline %s loads tiles of %s, but no consumer uses them; another tile may be read in its place, or the load is not needed", p.name, f.from.name)
		}
	})
}

// checkTaken reports tiles that are copied and not asked for.
func (p *AsyncPipeline) checkTaken() {
	p.taken.left(func(from, to int) {
		for i := from; i <= to; i++ {
			p.k.doubt(p.taken.first, "pipeline %s loads tile %d, %s, but no consumer uses it; another tile may be read in its place, or the load is not needed", p.name, i, p.tiles[i])
		}
	})
}

// checkTaken reports columns of sums that nobody reads.
func (t *TMEM) checkTaken() {
	t.taken.left(func(from, to int) {
		if slices.Contains(t.taken.parts, true) {
			t.k.doubt(t.taken.first, "columns %d to %d of %s are computed and never read", from, to, t.name)
		}
	})
}
