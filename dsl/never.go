// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
)

// checkNever reports what stands under a comparison of a place with a number, such as k.Lane().EQI(32), that holds for no thread of the block.
func (k *Kernel) checkNever(t *turn, told *places) {
	if k.BlockThreads() == 0 {
		return
	}
	seen := make(map[*ir.Reg]bool)
	for i := range k.watching {
		w := &k.watching[i]
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

// never reports whether a condition holds for no thread.
func (t *turn) never(c condition, r *role) bool {
	if r != nil {
		return false // which has its own threads
	}
	for thread := range t.k.BlockThreads() {
		t.begin(thread)
		if v := t.holds(c); v.kind != sure || v.n != 0 || t.work > mostWork {
			return false
		}
	}
	return !t.alike(c.p)
}
