// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A memo caches the results of an instruction. Most instructions are followed on many paths with
// the same operands, and equal values are one pointer.
type memo struct {
	to   int32             // slot of the register that is written
	from [operands]int32   // slots of the registers that the result depends on
	n    int               // their number
	last *[recalled]result // nil before the first use
	next int               // next entry of last to replace
}

type result struct {
	round int // p.round when it was filled; constants differ between rounds
	of    [operands]*value.Value
	is    *value.Value
}

// The number of cached results, and the maximum number of registers that a result may depend on.
const (
	recalled = 3
	operands = 4
)

// newMemo returns a memo for an instruction whose single result depends only on registers. It
// returns nil for any other instruction.
func (p *program) newMemo(s *step) *memo {
	in := s.in
	if !s.value || len(in.Args) < 2 || in.Args[0].Kind != ir.Register || in.Args[0].Text() != "" ||
		!s.function() {
		return nil
	}
	m := &memo{to: int32(p.at(in.Args[0].Reg))}
	if m.to < 0 {
		return nil
	}
	for i := range in.Args[1:] {
		if !m.reads(p, &in.Args[i+1]) {
			return nil
		}
	}
	return m
}

// steady reports whether the memory of a state space is assumed not to change during the kernel.
func steady(s isa.Space) bool {
	s = s.Base()
	return s == isa.Param || s == isa.Global || s == isa.Const
}

// function reports whether a step always gives the same result for the same operands.
func (s *step) function() bool {
	switch s.op {
	case isa.KindSelp: // the outcome of its predicate counts too
		return false
	case isa.KindLd:
		return !s.polled && steady(s.space)
	}
	return s.in.Has(isa.EffectPure)
}

// reads records the registers of an operand. It returns false if the operand is not constant over
// time.
func (m *memo) reads(p *program, o *ir.Operand) bool {
	switch o.Kind {
	case ir.Int, ir.Variable:
		return true
	case ir.Special:
		return !ticks(o.Text())
	case ir.Register:
		if n := p.at(o.Reg); n >= 0 {
			if m.n == operands {
				return false
			}
			m.from[m.n] = int32(n)
			m.n++
		}
		return true
	case ir.Address:
		return len(o.Args()) == 1 && m.reads(p, &o.Args()[0])
	}
	return false
}

// recall sets the register of m to the cached result for the given operands. It returns false if
// there is none.
func (w *walk) recall(s *state, m *memo) (of [operands]*value.Value, found bool) {
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

// note caches the result for the given operands.
func (w *walk) note(s *state, m *memo, of [operands]*value.Value) {
	if m.last == nil {
		m.last = new([recalled]result)
	}
	m.last[m.next] = result{w.round, of, s.regs.at(int(m.to))}
	m.next = (m.next + 1) % recalled
}
