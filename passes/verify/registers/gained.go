// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package registers

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// checkGained reports registers that are read after setmaxnreg.inc although no path to the read
// writes them. Operands that are both read and written are ignored, because a predicate may tell
// an MMA to ignore its accumulator.
func checkGained(p *verify.Pass) {
	f := p.Func
	number := func(r *ir.Reg) (n int, own bool) {
		n = int(r.Number)
		return n, n < len(f.Regs) && f.Regs[n] == r
	}
	words := (len(f.Regs) + 63) / 64
	// written holds, for each block, the registers that may be written before the block starts.
	// raised holds the last setmaxnreg.inc that may precede the block.
	written := make([][]uint64, len(f.Blocks))
	raised := make([]*ir.Instr, len(f.Blocks))
	seen := make([]bool, len(f.Blocks))
	work := []int{0}
	written[0], seen[0] = make([]uint64, words), true
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		now, inc := append([]uint64(nil), written[b]...), raised[b]
		for _, in := range f.Blocks[b].Instrs {
			inc = step(in, number, now, inc)
		}
		for _, s := range p.Flow.Succs[b] {
			changed := !seen[s] || raised[s] == nil && inc != nil
			seen[s] = true
			if written[s] == nil {
				written[s] = make([]uint64, words)
			}
			if raised[s] == nil {
				raised[s] = inc
			}
			for i, w := range now {
				changed = changed || w&^written[s][i] != 0
				written[s][i] |= w
			}
			if changed {
				work = append(work, s)
			}
		}
	}
	reported := make(map[*ir.Reg]bool)
	for b, block := range f.Blocks {
		if !seen[b] {
			continue
		}
		now, inc := append([]uint64(nil), written[b]...), raised[b]
		for _, in := range block.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				n, own := number(r)
				if own && inc != nil && a == isa.Read && !isCopy(in) && now[n/64]>>(n%64)&1 == 0 &&
					!reported[r] && !isParameter(f, r) {
					reported[r] = true
					p.Report(&ruleGained, in, "uninitialized register: %s is read after "+
						"setmaxnreg.inc but never written; registers gained by it have undefined "+
						"contents", verify.Register(r)).Also(inc, "increased here")
				}
			})
			inc = step(in, number, now, inc)
		}
	}
}

// step updates the state for instruction in: it adds the registers that in writes to now, and
// returns in if it is a setmaxnreg.inc, or else inc. A copy of an unwritten register does not
// count as a write.
func step(in *ir.Instr, number func(*ir.Reg) (int, bool), now []uint64, inc *ir.Instr) *ir.Instr {
	writes := !isCopy(in)
	in.Registers(func(r *ir.Reg, a isa.Access) {
		n, own := number(r)
		writes = writes || a == isa.Read && (!own || now[n/64]>>(n%64)&1 != 0)
	})
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, own := number(r); own && a != isa.Read && writes {
			now[n/64] |= 1 << (n % 64)
		}
	})
	if in.Kind() == isa.KindSetmaxnregInc {
		return in
	}
	return inc
}

// isCopy reports whether an instruction only copies registers. Compilers copy values that are
// written under a false predicate and never used.
func isCopy(in *ir.Instr) bool {
	return in.Kind() == isa.KindMov &&
		slices.ContainsFunc(in.Args[1:], func(o ir.Operand) bool {
			return o.Kind == ir.Register || o.Kind == ir.Vector
		})
}

// isParameter reports whether a register is a parameter of the function.
func isParameter(f *ir.Func, r *ir.Reg) bool {
	for _, v := range f.Params {
		if v.Reg == r {
			return true
		}
	}
	return false
}

var ruleGained = diag.Rule{ID: "R6", Layer: "registers", Severity: diag.Error}
