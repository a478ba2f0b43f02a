// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// pruneTraps removes paths that can only end in a trap from the flow graph, such as failed
// assertions and timeouts. The grid ends at a trap, so the code after it has no effect, and other
// threads need not wait for lanes on such a path. The analysis assumes that branches to these paths
// are not taken.
func (p *program) pruneTraps() {
	g := p.flow
	p.doomed = make([]bool, len(g.Succs))
	open := make([]int, len(g.Succs)) // number of edges to blocks that may not trap
	var work []int
	for b, block := range p.k.Func.Blocks {
		open[b] = len(g.Succs[b])
		in := block.Last()
		ends := in != nil && traps(in)
		if ends && in.Guard.Reg != nil {
			g.Leaves[b] = false
		}
		if ends && in.Guard.Reg == nil || slices.ContainsFunc(block.Instrs, stops) {
			p.doomed[b] = true
			work = append(work, b)
		}
	}
	if len(work) == 0 {
		return
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, before := range g.Preds[b] {
			if open[before]--; open[before] == 0 && !g.Leaves[before] && !p.doomed[before] {
				p.doomed[before] = true
				work = append(work, before)
			}
		}
	}
	if p.doomed[0] {
		clear(p.doomed) // the whole kernel is a trap
		return
	}
	gone := func(b int) bool { return p.doomed[b] }
	for b := range g.Succs {
		if p.doomed[b] {
			g.Succs[b], g.Preds[b], g.Leaves[b] = nil, nil, false
			continue
		}
		g.Succs[b], g.Preds[b] = slices.DeleteFunc(g.Succs[b], gone),
			slices.DeleteFunc(g.Preds[b], gone)
	}
}

// traps reports whether an instruction ends the grid.
func traps(in *ir.Instr) bool { return in.Kind() == isa.KindTrap }

// followNonTrap follows the branch that does not end in a trap, and records its condition.
func (w *walk) followNonTrap(s *state, cond *value.Value, taken bool) {
	if !cond.Tid() {
		s.facts.assume(cond, taken, s.threads)
	}
}

// stops reports whether an instruction is a call that does not return.
func stops(in *ir.Instr) bool {
	if in.Directive() || in.Guard.Reg != nil || Of(in) != Call {
		return false
	}
	f := callee(in)
	return f != nil && (f.Attr(".noreturn") != nil || f.Name == "__assertfail")
}
