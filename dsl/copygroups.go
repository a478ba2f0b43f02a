// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
)

// background tracks one kind of asynchronous copy: where the kernel starts copies, and whether it
// waits for their groups.
type background struct {
	first             ir.Pos // position of the author's first copy
	committed, waited bool
}

// byHand records a wait that the author wrote as text, with Ins. Such a kernel may also start and
// commit copies in text, so the checks of copy groups do not apply.
func (b *background) byHand() { b.committed, b.waited = true, true }

// storesBehind records a copy from shared to global memory.
//
//go:noinline
func (k *Kernel) storesBehind() {
	if k.storing.first == ir.NoPos {
		k.storing.first = k.m.calls.here()
	}
}

// copiesBehind records a cp.async copy from global to shared memory.
//
//go:noinline
func (k *Kernel) copiesBehind() {
	if k.copying.first == ir.NoPos {
		k.copying.first = k.m.calls.here()
	}
}

// checkBackground reports copies that are never waited for, in kernels that call no function that
// could wait.
func (k *Kernel) checkBackground() {
	if !k.f.Kernel || len(k.callees) > 0 || len(k.outputs) > 0 {
		return
	}
	switch s := k.storing; {
	case s.first == ir.NoPos:
	case !s.waited:
		k.m.faultAt(s.first, &ruleProtocol,
			"bulk store is never waited for: the block may exit while the TMA still reads its shared memory; call CommitStores and WaitStores in the same thread")
	case !s.committed:
		k.m.faultAt(s.first, &ruleProtocol,
			"bulk store belongs to no group, so WaitStores does not wait for it; call CommitStores after it")
	}
	if c := k.copying; c.first != ir.NoPos && !c.waited {
		k.m.faultAt(c.first, &ruleProtocol,
			"asynchronous copy is never waited for; call CommitCopies, WaitCopies and Sync before the data is read")
	}
}
