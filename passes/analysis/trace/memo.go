// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A memo caches the results of an instruction. Most instructions are evaluated on many paths with
// the same operands. Equal values are the same pointer, so comparing operands is cheap.
type memo struct {
	to   int32                // index of the register that is written
	from [maxOperands]int32   // indices of the registers on which the result depends
	n    int                  // number of these registers
	last *[maxRecalled]result // nil before the first use
	next int                  // index of the entry of last to replace next
}

type result struct {
	round int // value of program.round when the entry was made; constants differ between rounds
	of    [maxOperands]*value.Value
	is    *value.Value
}

// recalled is the number of cached results. operands is the largest number of registers on which
// a result may depend.
const (
	maxRecalled = 3
	maxOperands = 4
)

// newMemo returns a memo for an instruction whose single result depends only on registers. It
// returns nil for any other instruction.
func (p *program) newMemo(s *step) *memo {
	in := s.in
	if !s.value || len(in.Args) < 2 || in.Args[0].Kind != ir.Register || in.Args[0].Text() != "" ||
		!s.isFunction() {
		return nil
	}
	m := &memo{to: int32(p.at(in.Args[0].Reg))}
	if m.to < 0 {
		return nil
	}
	for i := range in.Args[1:] {
		if !m.addOperand(p, &in.Args[i+1]) {
			return nil
		}
	}
	return m
}

// isUnchanging reports whether the memory of a state space is assumed not to change while the
// kernel runs.
func isUnchanging(s isa.Space) bool {
	s = s.Base()
	return s == isa.Param || s == isa.Global || s == isa.Const
}

// isFunction reports whether a step always gives the same result for the same operands.
func (s *step) isFunction() bool {
	switch s.op {
	case isa.KindSelp: // the result also depends on known outcomes of its predicate
		return false
	case isa.KindLd:
		return !s.polled && isUnchanging(s.space)
	}
	return s.in.Has(isa.EffectPure)
}

// addOperand records the registers of an operand. It returns false if the operand may change
// without a register write, or there are too many registers.
func (m *memo) addOperand(p *program, o *ir.Operand) bool {
	switch o.Kind {
	case ir.Int, ir.Variable:
		return true
	case ir.Special:
		return !isClock(o.Text())
	case ir.Register:
		if n := p.at(o.Reg); n >= 0 {
			if m.n == maxOperands {
				return false
			}
			m.from[m.n] = int32(n)
			m.n++
		}
		return true
	case ir.Address:
		return len(o.Args()) == 1 && m.addOperand(p, &o.Args()[0])
	}
	return false
}

// recall sets the register of m to the cached result for the current operands, which it returns.
// found is false if there is no such result.
func (w *walk) recall(s *state, m *memo) (of [maxOperands]*value.Value, found bool) {
	for i, n := range m.from[:m.n] {
		of[i] = s.regs.at(int(n))
	}
	if m.last == nil {
		return of, false
	}
	for i := range m.last {
		if r := &m.last[i]; r.round == w.round && r.of == of {
			s.put(int(m.to), r.is)
			return of, true
		}
	}
	return of, false
}

// cacheResult caches the current value of the register of m as the result for the given operands.
func (w *walk) cacheResult(s *state, m *memo, of [maxOperands]*value.Value) {
	if m.last == nil {
		m.last = new([maxRecalled]result)
	}
	m.last[m.next] = result{w.round, of, s.regs.at(int(m.to))}
	m.next = (m.next + 1) % maxRecalled
}
