// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
)

// A callee is a called function and the position of the first call.
type callee struct {
	k   *Kernel
	pos ir.Pos
}

// addCallee records that k calls f, with the position of the first call.
func (k *Kernel) addCallee(f *Func) {
	if !slices.ContainsFunc(k.callees, func(c callee) bool { return c.k == f.Kernel }) {
		k.callees = append(k.callees, callee{f.Kernel, k.m.calls.Here()})
	}
}

// callOrder numbers the functions of the module so that callees precede callers. It reports direct
// and indirect recursion.
func (m *Module) callOrder() map[*ir.Func]int {
	order := make(map[*ir.Func]int)
	const open = -1
	last := 0
	type frame struct {
		k    *Kernel
		next int
	}
	for _, k := range m.kernels {
		if _, done := order[k.f]; done {
			continue
		}
		order[k.f] = open
		for nodePath := []frame{{k: k}}; len(nodePath) > 0; {
			top := &nodePath[len(nodePath)-1]
			if top.next == len(top.k.callees) {
				last++
				order[top.k.f] = last
				nodePath = nodePath[:len(nodePath)-1]
				continue
			}
			c := top.k.callees[top.next]
			top.next++
			switch at, seen := order[c.k.f]; {
			case seen && at == open && c.k == top.k:
				m.faultAt(c.pos, &ruleFunction,
					"%s is recursive, so its stack size is unbounded; use a loop", c.k.Name())
			case seen && at == open:
				m.faultAt(c.pos, &ruleFunction,
					"%s is recursive through %s, so its stack size is unbounded; use a loop",
					top.k.Name(), c.k.Name())
			case !seen:
				order[c.k.f] = open
				nodePath = append(nodePath, frame{k: c.k})
			}
		}
	}
	return order
}

// checkResults reports paths through a device function that return without a result.
func (k *Kernel) checkResults() {
	if k.f.Kernel || !k.f.HasResults {
		return
	}
	for _, pos := range k.returns {
		k.m.faultAt(pos, &ruleFunction,
			"%s returns no result here, but returns one elsewhere; use ReturnValue", k.Name())
	}
	if k.cur == nil || len(k.f.Blocks) == 0 {
		return
	}
	g := ir.FlowOf(k.f)
	if last := len(k.f.Blocks) - 1; slices.Contains(g.Order(), last) && k.f.Blocks[last] == k.cur {
		k.m.faultAt(k.f.Pos, &ruleFunction,
			"%s returns a result, but one path through it reaches the end without ReturnValue",
			k.Name())
	}
}

// reportLate reports an instruction that is appended after the module was built.
func (k *Kernel) reportLate() {
	k.fault(&ruleKernel, "%s is modified after Build or Text: the instruction is lost", k.Name())
}
