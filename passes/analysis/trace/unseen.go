// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
)

// unreachedEvent returns the first synchronizing or asynchronous instruction that no followed path
// reaches, or nil. Its effects were not checked. Paths that can only end in a trap are ignored.
func (p *program) unreachedEvent() *ir.Instr {
	seen := make(map[*ir.Instr]bool)
	for _, t := range p.k.Traces {
		for i := range t.Events {
			seen[t.Events[i].In] = true
		}
	}
	for b, block := range p.k.Func.Blocks {
		if p.ruled[b] || p.doomed != nil && p.doomed[b] || b > 0 && len(p.flow.Preds[b]) == 0 {
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

// untakenBranch returns a branch in a loop that has the same outcome in all followed iterations, if
// threads synchronize on one of its paths. It may have the other outcome in a later iteration.
// Branches that leave or skip a loop are ignored.
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
		if l == nil || taken < 0 || p.doomed[taken] || p.doomed[next] || !l.Has(taken) ||
			!l.Has(next) {
			continue
		}
		one, other := p.taken[[2]int{b, taken}], p.taken[[2]int{b, next}]
		// a target is in another loop
		inner := p.loops[taken] != p.loops[b] || p.loops[next] != p.loops[b]
		if one != other && !inner && p.counts(in, l) && p.orders(b) {
			return in
		}
	}
	return nil
}

// orders reports whether threads synchronize between a branch and the block where its paths join.
func (p *program) orders(b int) bool {
	if r := (&walk{program: p}).region(b); r.ok || r.soft {
		return false // only one path is followed, for all threads
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

// counts reports whether the guard of a branch depends on a register that the loop changes.
func (p *program) counts(in *ir.Instr, l *graph.Loop) bool {
	seen := make(map[*ir.Reg]int)
	var depends func(r *ir.Reg) bool
	depends = func(r *ir.Reg) bool {
		if seen[r] > 0 {
			return seen[r] == 1 // in progress: depends on itself
		}
		seen[r] = 1
		found := false
		for _, b := range l.Blocks {
			for _, def := range p.k.Func.Blocks[b].Instrs {
				if !found && writes(def, r) {
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

// writes reports whether an instruction writes a register.
func writes(in *ir.Instr, r *ir.Reg) bool {
	found := false
	in.Registers(func(w *ir.Reg, a isa.Access) { found = found || w == r && a != isa.Read })
	return found
}
