// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package unset reports registers that a kernel reads although it has not written them.
package unset

import (
	"embed"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

//go:embed rules/*.md
var pages embed.FS

var (
	ruleGained = diag.Rule{ID: "R6", Layer: "unset", Severity: diag.Error}
	ruleUnset  = diag.Rule{ID: "R7", Layer: "unset", Severity: diag.Error}
)

// Analyzer is the analyzer for registers that are read before they are written.
var Analyzer = &verify.Analyzer{
	Name: "unset",
	Doc: `Unset reports registers that an instruction reads although no path to it writes them, and
registers whose value a thread uses on a path that does not write them. Accumulators are not
reported.`,
	Rules: diag.Rules{ruleGained, ruleUnset},
	Pages: pages,
	Flow:  true,
	Run:   run,
}

// A state holds what may have happened on some path to an instruction.
type state struct {
	written []uint64  // the registers that were written, as a set of their numbers
	raised  *ir.Instr // the last setmaxnreg.inc, or nil
}

// has reports whether register n was written.
func (s *state) has(n int) bool { return s.written[n/64]>>(n%64)&1 != 0 }

// merge adds what may have happened on another path. It reports whether s has changed.
func (s *state) merge(other *state) bool {
	changed := s.raised == nil && other.raised != nil
	if changed {
		s.raised = other.raised
	}
	for i, w := range other.written {
		changed = changed || w&^s.written[i] != 0
		s.written[i] |= w
	}
	return changed
}

// clone returns a copy of s.
func (s *state) clone() *state {
	return &state{slices.Clone(s.written), s.raised}
}

func run(p *verify.Pass) {
	f := p.Func
	starts := statesOf(p)
	reported := make(map[*ir.Reg]bool)
	for _, v := range f.Params {
		reported[v.Reg] = true // parameters of device functions are set by the caller
	}
	for b, block := range f.Blocks {
		if starts[b] == nil {
			continue
		}
		s := starts[b].clone()
		for _, in := range block.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n, own := number(f, r); own && a == isa.Read && !s.has(n) && !isCopy(in) &&
					!cancels(in) && !reported[r] {
					reported[r] = true
					report(p, in, r, s.raised)
				}
			})
			s.step(f, in)
		}
	}
	checkPaths(p, starts, reported)
}

// report reports that an instruction reads register r. raised is the setmaxnreg.inc before it, if
// any.
func report(p *verify.Pass, in *ir.Instr, r *ir.Reg, raised *ir.Instr) {
	if raised != nil {
		p.Report(&ruleGained, in,
			"uninitialized register: %s is read after setmaxnreg.inc but never "+
				"written; registers gained by it have undefined contents", verify.Register(r)).
			Also(raised, "increased here")
		return
	}
	p.Report(&ruleUnset, in,
		"uninitialized register: %s is read, but no instruction before the read writes the register",
		verify.Register(r))
}

// number returns the index of a register in f.Regs. own is false for registers of other functions.
func number(f *ir.Func, r *ir.Reg) (n int, own bool) {
	n = int(r.Number)
	return n, n < len(f.Regs) && f.Regs[n] == r
}

// statesOf returns the state at the start of each block, or nil for a block that is not reached.
func statesOf(p *verify.Pass) []*state {
	f := p.Func
	starts := make([]*state, len(f.Blocks))
	starts[0] = &state{written: make([]uint64, (len(f.Regs)+63)/64)}
	for work := []int{0}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		s := starts[b].clone()
		for _, in := range f.Blocks[b].Instrs {
			s.step(f, in)
		}
		for _, next := range p.Flow.Succs[b] {
			switch {
			case starts[next] == nil:
				starts[next] = s.clone()
			case !starts[next].merge(s):
				continue
			}
			work = append(work, next)
		}
	}
	return starts
}

// step updates the state for an instruction. A copy of registers that were not written does not
// count as a write.
func (s *state) step(f *ir.Func, in *ir.Instr) {
	if in.Directive() {
		return
	}
	writes := !isCopy(in) || in.Form == nil // moves of arguments of inlined calls have no form
	for i := 1; i < len(in.Args) && !writes; i++ {
		in.Args[i].Walk(func(o *ir.Operand) {
			if o.Reg != nil {
				n, own := number(f, o.Reg)
				writes = writes || !own || s.has(n)
			}
		})
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, own := number(f, r); own && a != isa.Read && writes {
			s.written[n/64] |= 1 << (n % 64)
		}
	})
	if in.Kind() == isa.KindSetmaxnregInc {
		s.raised = in
	}
}

// isCopy reports whether an instruction only moves bits of registers. Compilers copy values that
// are written under a false predicate and never used, and let a register without a value be the
// operand of which prmt takes no byte.
func isCopy(in *ir.Instr) bool {
	switch in.Kind() {
	case isa.KindMov, isa.KindSelp, isa.KindPrmt:
		return slices.ContainsFunc(in.Args[1:], func(o ir.Operand) bool {
			return o.Kind == ir.Register || o.Kind == ir.Vector
		})
	}
	return false
}

// cancels reports whether the result does not depend on the register that the instruction reads
// twice, as in xor.b32 %r1, %r2, %r2.
func cancels(in *ir.Instr) bool {
	if k := in.Kind(); k != isa.KindXor && k != isa.KindSub || len(in.Args) != 3 {
		return false
	}
	a, b := &in.Args[1], &in.Args[2]
	return a.Kind == ir.Register && b.Kind == ir.Register && a.Reg == b.Reg
}
