// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
)

// checkNever reports code under a comparison of an index with a constant, such as k.Lane().EQI(32),
// that is true for no thread of the block.
func (k *Kernel) checkNever(t *threadEval, told *places) {
	if k.BlockThreads() == 0 {
		return
	}
	seen := make(map[*ir.Reg]bool)
	for i := range k.deferred {
		w := &k.deferred[i]
		for _, c := range w.conds {
			if c.p == nil || c.not || c.loop || c.left || seen[c.p] {
				continue
			}
			seen[c.p] = true
			if in := t.def(c.p); in != nil && in.Head() == "setp" && in.Mod("eq") && len(in.Args) == 3 && in.Args[2].Kind == ir.Int && t.never(c, w.role) && !told.has(in.Pos) {
				told.add(in.Pos)
				k.doubt(in.Pos, "condition is never true: no thread of the block has the value %d here", in.Args[2].Value)
			}
		}
	}
}

// never reports whether a condition is false for all threads.
func (t *threadEval) never(c condition, r *role) bool {
	if r != nil {
		return false // the result differs between threads
	}
	for thread := range t.k.BlockThreads() {
		t.begin(thread)
		if v := t.holds(c); v.kind != sure || v.n != 0 || t.work > mostWork {
			return false
		}
	}
	return !t.alike(c.p)
}
