// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"math"
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// operand returns the value of an operand. The parameter width is the width of constants.
func (w *walk) operand(s *state, o *ir.Operand, width int) *value.Value {
	var v *value.Value
	switch o.Kind {
	case ir.Int:
		if width == 1 {
			return w.pool.Bool(o.Value != 0)
		}
		return w.pool.Const(width, o.Value)
	case ir.Register:
		v = w.reg(s, o.Reg)
		if o.Text() != "" {
			return w.pool.Atom(16, value.OpPart, o.Text(), nil, value.Constant, v)
		}
		if o.Not {
			v = w.pool.Not(v)
		}
	case ir.Variable:
		v = w.variable(o.Var())
	case ir.Special:
		v = w.special(s, o.Text())
	case ir.Address, ir.Apply:
		if len(o.Args()) == 0 {
			return w.newUnknown(s, nil, width)
		}
		return w.operand(s, &o.Args()[0], width)
	default:
		return w.newUnknown(s, nil, width)
	}
	if o.Value != 0 && o.Kind != ir.Special {
		v = w.pool.Add(v.Width, v, w.pool.Const(v.Width, o.Value))
	}
	return v
}

// compute evaluates an instruction and sets the registers that it writes.
func (w *walk) compute(s *state, st *step) {
	var cond *value.Value
	if st.in.Guard.Reg != nil {
		cond = w.guard(s, st.in)
		if holds, known := s.facts.Decided(cond, w.lanes(s)); known {
			if !holds {
				return
			}
			cond = nil
		}
	}
	if st.memo == nil || cond != nil {
		w.setResults(s, st, cond)
	} else if of, found := w.recall(s, st.memo); !found {
		w.setResults(s, st, nil)
		w.cacheResult(s, st.memo, of)
	}
}

// lanes returns the threads whose values are kept together: those of s, extended to whole warps
// if no branch is open, because lanes of a warp may exchange values after they reconverge.
func (w *walk) lanes(s *state) value.Set {
	if len(s.open) > 0 {
		return s.threads
	}
	return s.threads.Warp(w.pool.All())
}

// setResults sets the results of an instruction. cond is the guard under which it executes, or
// nil.
func (w *walk) setResults(s *state, st *step, cond *value.Value) {
	w.cond = cond
	w.result(s, st)
	w.cond = nil
}

// setOperand sets a register that an instruction writes, if the value of the register matters.
func (w *walk) setOperand(s *state, st *step, o *ir.Operand, v *value.Value) {
	if o.Kind != ir.Register {
		return
	}
	n := w.at(o.Reg)
	if n < 0 {
		return
	}
	v = w.fit(v, bitsOf(o.Reg))
	if o.Text() != "" {
		v = w.newUnknown(s, st.in, bitsOf(o.Reg))
	}
	if cond := w.cond; cond != nil {
		w.cond = w.pool.Not(cond)
		v = w.pool.Select(cond, v, w.fit(w.reg(s, o.Reg), v.Width))
		w.cond = cond
	}
	s.put(n, v)
}

// fit returns v converted to width bits, the width of a register.
func (w *walk) fit(v *value.Value, width int) *value.Value {
	if v.Width == width {
		return v
	}
	if width == 1 {
		return w.pool.Atom(1, value.OpCvt, "", nil, value.Constant, v)
	}
	return w.pool.Resize(width, v, true)
}

// A setter sets the operands that an instruction writes. It returns false if the results are
// unknown.
type setter func(w *walk, s *state, st *step) bool

// setters holds the functions for instructions that write several operands, or whose results
// depend on more than the values of their operands.
var setters = [math.MaxUint8 + 1]setter{
	isa.HeadMov: (*walk).move, isa.HeadSetp: (*walk).compare, isa.HeadLd: (*walk).load,
	isa.HeadShfl: (*walk).shuffle, isa.HeadVote: (*walk).vote, isa.HeadRedux: (*walk).vote,
	isa.HeadActivemask: (*walk).activeMask, isa.HeadElect: (*walk).elect,
	isa.HeadMbarrier: (*walk).setWaitResult,
}

// result evaluates an instruction, and sets the registers that it writes.
func (w *walk) result(s *state, st *step) {
	if f := formulas[st.head]; f != nil {
		if v := f(w, s, st); v != nil {
			w.setOperand(s, st, &st.in.Args[0], v)
			return
		}
	} else if f := setters[st.head]; f != nil && f(w, s, st) {
		return
	}
	w.opaque(s, st)
	if st.kind == Arrive && st.in.Args[0].Kind == ir.Register {
		if e := s.events.last(); e != nil && e.In == st.in {
			e.Done = w.reg(s, st.in.Args[0].Reg)
		}
	}
}

// setWaitResult sets the predicate that an mbarrier wait returns.
func (w *walk) setWaitResult(s *state, st *step) bool {
	e := s.events.last()
	if st.kind != Wait || e == nil || e.In != st.in || e.Done == nil {
		return false
	}
	o := &st.in.Args[0]
	if o.Kind == ir.Pair {
		o = &o.Args()[0]
	}
	w.setOperand(s, st, o, e.Done)
	return true
}

// move evaluates mov, including packing and unpacking.
func (w *walk) move(s *state, st *step) bool {
	in := st.in
	if len(in.Args) != 2 {
		return false
	}
	to, from := &in.Args[0], &in.Args[1]
	width := st.width
	switch {
	case from.Kind == ir.Vector && to.Kind == ir.Register:
		parts := make([]*value.Value, len(from.Args()))
		zero := true
		for i := range from.Args() {
			parts[i] = w.operand(s, &from.Args()[i], width/len(from.Args()))
			zero = zero && (i == 0 || parts[i].Is(0))
		}
		if zero {
			w.setOperand(s, st, to, w.pool.Resize(width, parts[0], false))
			return true
		}
		w.setOperand(s, st, to, w.pool.Atom(width, value.OpPack, "", nil, value.Constant, parts...))
	case to.Kind == ir.Vector:
		v := w.operand(s, from, width)
		a := v.Single()
		for i := range to.Args() {
			switch {
			case a != nil && a.Op == value.OpPack && len(a.Args) == len(to.Args()):
				w.setOperand(s, st, &to.Args()[i], a.Args[i])
			case i == 0 && width == 64 && len(to.Args()) == 2:
				w.setOperand(s, st, &to.Args()[i], w.pool.Resize(32, v, true))
			default:
				w.setOperand(s, st, &to.Args()[i],
					w.pool.Atom(width/len(to.Args()), value.OpPart, strconv.Itoa(i), nil,
						value.Constant, v))
			}
		}
	case from.Kind == ir.Single || from.Kind == ir.Double || from.Kind == ir.Raw ||
		from.Kind == ir.Function:
		return false
	default:
		w.setOperand(s, st, to, w.operand(s, from, width))
	}
	return true
}

// compare evaluates setp, with or without a predicate with which the result is combined.
func (w *walk) compare(s *state, st *step) bool {
	in, width := st.in, st.width
	if st.float || len(in.Args) < 3 {
		return false
	}
	a, b := w.fit(w.operand(s, &in.Args[1], width), width),
		w.fit(w.operand(s, &in.Args[2], width), width)
	v := w.pool.Compare(st.compares, st.signed && !st.unsigned, a, b)
	opposite := w.pool.Not(v)
	if len(in.Args) > 3 && st.combines != value.NoOp {
		c := w.operand(s, &in.Args[3], 1)
		v, opposite = w.pool.Binary(st.combines, 1, v, c),
			w.pool.Binary(st.combines, 1, opposite, c)
	}
	to := &in.Args[0]
	if to.Kind == ir.Pair {
		w.setOperand(s, st, &to.Args()[0], v)
		w.setOperand(s, st, &to.Args()[1], opposite)
		return true
	}
	w.setOperand(s, st, to, v)
	return true
}
