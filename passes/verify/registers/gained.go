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

// gained reports registers that are read after setmaxnreg.inc and not written on any path to the
// read. Operands that are both read and written are ignored, because an MMA may ignore its
// accumulator depending on a predicate.
func gained(p *verify.Pass) {
	f := p.Func
	number := func(r *ir.Reg) (n int, own bool) {
		n = int(r.Number)
		return n, n < len(f.Regs) && f.Regs[n] == r
	}
	words := (len(f.Regs) + 63) / 64
	// The registers that may be written at the start of each block, and the last setmaxnreg.inc
	// that may precede it.
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
				if own && inc != nil && a == isa.Read && !copies(in) && now[n/64]>>(n%64)&1 == 0 &&
					!reported[r] && !parameter(f, r) {
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

// step updates the state for one instruction: its writes, and whether it is a setmaxnreg.inc. A
// copy of an unwritten register is unwritten.
func step(in *ir.Instr, number func(*ir.Reg) (int, bool), now []uint64, inc *ir.Instr) *ir.Instr {
	something := !copies(in)
	in.Registers(func(r *ir.Reg, a isa.Access) {
		n, own := number(r)
		something = something || a == isa.Read && (!own || now[n/64]>>(n%64)&1 != 0)
	})
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, own := number(r); own && a != isa.Read && something {
			now[n/64] |= 1 << (n % 64)
		}
	})
	if in.Kind() == isa.KindSetmaxnregInc {
		return in
	}
	return inc
}

// copies reports whether an instruction only copies registers: compilers copy values that are
// written under a false predicate and never used.
func copies(in *ir.Instr) bool {
	return in.Kind() == isa.KindMov &&
		slices.ContainsFunc(in.Args[1:], func(o ir.Operand) bool {
			return o.Kind == ir.Register || o.Kind == ir.Vector
		})
}

// parameter reports whether a register is a parameter of the function.
func parameter(f *ir.Func, r *ir.Reg) bool {
	for _, v := range f.Params {
		if v.Reg == r {
			return true
		}
	}
	return false
}

var ruleGained = diag.Rule{ID: "R6", Layer: "registers", Severity: diag.Error}
