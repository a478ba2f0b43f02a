// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package uninitialized

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A state specifies whether a register is certainly written at a point in the kernel: not,
// always, or if the predicate when holds. The zero state belongs to a point that has not been
// reached.
type state struct {
	known, written bool
	when           ir.Guard
}

// mergeStates returns the state at a point where two paths join.
func (s state) mergeStates(o state) state {
	switch {
	case !s.known, s.written && o.known:
		return o
	case !o.known, o.written, s == o:
		return s
	}
	return state{known: true}
}

// assumePredicate returns the state on a path on which predicate p holds.
func (s state) assumePredicate(p ir.Guard) state {
	switch {
	case p.Reg == nil || s.written || !s.known:
	case s.when == p:
		return state{known: true, written: true}
	case s.when.Reg == nil: // written only if the predicate does not hold
		s.when = ir.Guard{Reg: p.Reg, Not: !p.Not}
	}
	return s
}

// stateAfter returns the state after an instruction. ok is false if the instruction reads
// register r, which may not be written.
func (s state) stateAfter(in *ir.Instr, r *ir.Reg) (after state, ok bool) {
	ok = true
	in.Registers(func(x *ir.Reg, a isa.Access) {
		switch {
		case x == r && a == isa.Read:
			ok = ok && (s.written || s.when.Reg != nil && s.when == in.Guard)
		case x == r && in.Guard.Reg == nil:
			s = state{known: true, written: true}
		case x == r && s.when == (ir.Guard{Reg: in.Guard.Reg, Not: !in.Guard.Not}):
			s = state{known: true, written: true}
		case x == r && s.when.Reg == nil && !s.written:
			s.when = in.Guard
		case x == s.when.Reg && a != isa.Read:
			s.when = ir.Guard{}
		}
	})
	return s, ok
}

// firstUnwritten returns the first instruction, in the given order of blocks, that reads a
// register that may not be written, or nil. A register that is written under a predicate may be
// read under the same predicate.
func firstUnwritten(g *ir.Flow, order []int, r *ir.Reg) *ir.Instr {
	in := make([]state, len(g.Succs))
	in[order[0]] = state{known: true}
	through := func(b int) (s state, wrong *ir.Instr) {
		s = in[b]
		for _, i := range g.Func.Blocks[b].Instrs {
			var ok bool
			if s, ok = s.stateAfter(i, r); !ok && wrong == nil {
				wrong = i
			}
		}
		return s, wrong
	}
	for changed := true; changed; {
		changed = false
		for _, b := range order {
			s, _ := through(b)
			taken, goes := ir.Guard{}, -1
			if last := g.Func.Blocks[b].Last(); last != nil && last.Ends() &&
				last.Guard.Reg != nil {
				taken = last.Guard
				goes = b + 1
			}
			for _, to := range g.Succs[b] {
				next := s
				switch {
				case goes < 0:
				case to == goes && len(g.Succs[b]) > 1:
					next = s.assumePredicate(ir.Guard{Reg: taken.Reg, Not: !taken.Not})
				case to != goes:
					next = s.assumePredicate(taken)
				}
				if met := in[to].mergeStates(next); met != in[to] {
					in[to], changed = met, true
				}
			}
		}
	}
	for _, b := range order {
		if _, wrong := through(b); wrong != nil {
			return wrong
		}
	}
	return nil
}
