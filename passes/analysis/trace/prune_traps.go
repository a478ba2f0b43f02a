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
// threads need not wait for lanes on such a path. The analysis assumes that branches to these
// paths are not taken.
func (p *program) pruneTraps() {
	g := p.flow
	p.onlyTraps = make([]bool, len(g.Succs))
	// for each block, the number of edges to blocks that may not trap
	open := make([]int, len(g.Succs))
	var work []int
	for b, block := range p.k.Func.Blocks {
		open[b] = len(g.Succs[b])
		in := block.Last()
		ends := in != nil && isTrap(in)
		if ends && in.Guard.Reg != nil {
			g.Leaves[b] = false
		}
		if ends && in.Guard.Reg == nil || slices.ContainsFunc(block.Instrs, neverReturns) {
			p.onlyTraps[b] = true
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
			if open[before]--; open[before] == 0 && !g.Leaves[before] && !p.onlyTraps[before] {
				p.onlyTraps[before] = true
				work = append(work, before)
			}
		}
	}
	if p.onlyTraps[0] {
		clear(p.onlyTraps) // the whole kernel is a trap
		return
	}
	gone := func(b int) bool { return p.onlyTraps[b] }
	for b := range g.Succs {
		if p.onlyTraps[b] {
			g.Succs[b], g.Preds[b], g.Leaves[b] = nil, nil, false
			continue
		}
		g.Succs[b], g.Preds[b] = slices.DeleteFunc(g.Succs[b], gone),
			slices.DeleteFunc(g.Preds[b], gone)
	}
}

// isTrap reports whether an instruction ends the grid.
func isTrap(in *ir.Instr) bool { return in.Kind() == isa.KindTrap }

// assumeNonTrap records that the threads of s take the side of a branch that does not end in a
// trap.
func (w *walk) assumeNonTrap(s *state, cond *value.Value, taken bool) {
	if !cond.Tid() {
		s.facts.assume(cond, taken, s.threads)
	}
}

// neverReturns reports whether an instruction is a call that does not return.
func neverReturns(in *ir.Instr) bool {
	if in.Directive() || in.Guard.Reg != nil || Of(in) != Call {
		return false
	}
	f := callee(in)
	return f != nil && (f.Attr(".noreturn") != nil || f.Name == "__assertfail")
}
