// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// unreachedEvent returns the first synchronizing or asynchronous instruction that no analyzed
// path reaches, or nil. Its effects were not checked. Paths that can only end in a trap are
// ignored.
func (p *program) unreachedEvent() *ir.Instr {
	seen := make(map[*ir.Instr]bool)
	for _, t := range p.k.Traces {
		for i := range t.Events {
			seen[t.Events[i].In] = true
		}
	}
	for b, block := range p.k.Func.Blocks {
		if p.wholeWarps[b] || p.onlyTraps != nil && p.onlyTraps[b] ||
			b > 0 && len(p.flow.Preds[b]) == 0 {
			continue
		}
		for _, in := range block.Instrs {
			if in.Directive() || seen[in] {
				continue
			}
			switch p.kind(in) {
			case Other, Load, Store, Atomic, Touch, Call, Exit:
			default:
				return in
			}
		}
	}
	return nil
}

// untakenBranch returns a branch in a loop that has the same outcome in all analyzed iterations,
// if threads synchronize on one of its sides, or nil. The branch may have the other outcome in a
// later iteration. Branches that leave or skip a loop are ignored.
func (p *program) untakenBranch() *ir.Instr {
	for b, in := range p.ends {
		if in == nil || in.Kind() != isa.KindBra || in.Guard.Reg == nil || b+1 >= len(p.ends) {
			continue
		}
		l := p.loops[b]
		for l != nil && !p.active[l] {
			l = l.Parent
		}
		taken, next := p.target(in), b+1
		if l == nil || taken < 0 || p.onlyTraps[taken] || p.onlyTraps[next] || !l.Has(taken) ||
			!l.Has(next) {
			continue
		}
		one, other := p.takenEdges[[2]int{b, taken}], p.takenEdges[[2]int{b, next}]
		// one side of the branch enters another loop
		inner := p.loops[taken] != p.loops[b] || p.loops[next] != p.loops[b]
		if one != other && !inner && p.dependsOnLoop(in, l) && p.synchronizesBetween(b) {
			return in
		}
	}
	return nil
}

// synchronizesBetween reports whether threads synchronize between a branch and the block where its
// paths join.
func (p *program) synchronizesBetween(b int) bool {
	if r := (&walk{program: p}).region(b); r.ok || r.soft {
		return false // only one side is analyzed, for all threads
	}
	end := p.post.Parent[b]
	between, ok := graph.Between(p.flow.Succs, p.flow.Succs[b], end, 500)
	if end == graph.None || !ok {
		return true
	}
	for _, n := range between {
		for i := range p.blocks[n] {
			switch p.blocks[n][i].kind {
			case Other, Load, Store, Atomic, Touch, Copy, Exit:
			default:
				return true
			}
		}
	}
	return false
}

// dependsOnLoop reports whether the guard of a branch depends on a register that the loop changes.
func (p *program) dependsOnLoop(in *ir.Instr, l *graph.Loop) bool {
	seen := make(map[*ir.Reg]int)
	var depends func(r *ir.Reg) bool
	depends = func(r *ir.Reg) bool {
		if seen[r] > 0 {
			return seen[r] == 1 // 1 means in progress: the register depends on itself
		}
		seen[r] = 1
		found := false
		for _, b := range l.Blocks {
			for _, def := range p.k.Func.Blocks[b].Instrs {
				if !found && writesRegister(def, r) {
					def.Registers(func(from *ir.Reg, a isa.Access) {
						found = found || a != isa.Write && depends(from)
					})
				}
			}
		}
		seen[r] = 2
		return found
	}
	return depends(in.Guard.Reg)
}

// writesRegister reports whether an instruction writes a register.
func writesRegister(in *ir.Instr, r *ir.Reg) bool {
	found := false
	in.Registers(func(w *ir.Reg, a isa.Access) { found = found || w == r && a != isa.Read })
	return found
}
