// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// event records the event of an instruction. gone reports that the rest of the trace is
// irrelevant, and stop is the reason why the trace cannot continue, or "".
func (w *walk) event(s *state, st *step) (gone bool, stop string) {
	in := st.in
	e := Event{Kind: st.kind, run: st.run, In: in, Block: s.block, Threads: w.intern(s.threads),
		Parted: s.open}
	if full := w.guard(s, in); full != nil {
		g := w.resolve(s, full)
		if g.Is(0) {
			return false, ""
		}
		if full.Tid() && !full.Const() {
			e.Threads = w.intern(w.pool.Where(full, s.threads))
		} else if !g.Const() {
			e.Guard = g
			e.Threads = w.intern(w.narrow(g, s.threads))
		}
		if c := (Choice{In: in, Block: s.block, Cond: full, Taken: true}); !full.Const() {
			if w.recordDivergence(s, &c); c.Splits || c.Maybe && e.Guard != nil {
				e.Parted = append(slices.Clip(s.open), c)
			}
		}
	}
	if st.kind != Touch {
		e.Vals = w.values(s, in)
		for i, v := range e.Vals {
			if v != nil {
				e.Vals[i] = w.valueUnderGuard(s, v, &e)
			}
		}
	}
	switch st.kind {
	case Call:
		f := callee(in)
		if f != nil && f.Attr(".noreturn") != nil {
			return true, ""
		}
		name := "a function pointer"
		if f != nil {
			name = f.Name
		}
		s.events.add(e, &w.spareEvents)
		return false, "calls of device functions that take part in synchronization (" + name + ")"
	case Wait:
		if was := s.pending.at(in); was != nil {
			// The same wait again: if it failed before and nothing has changed, it fails again.
			if holds, known := s.facts.Decided(was, s.threads); known && !holds &&
				w.repeatsPrevious(s, in, &e) {
				return true, ""
			}
		}
		e.Done = w.pool.Atom(1, value.OpDone,
			strconv.Itoa(int(in.Pos))+"#"+strconv.Itoa(s.countExecution(in)), in, value.Block)
		s.pending.set(in, e.Done)
	}
	s.events.add(e, &w.spareEvents)
	return false, ""
}

// valueUnderGuard returns the value of v in the threads that execute an event. A selection by the
// guard is replaced by the selected value.
func (w *walk) valueUnderGuard(s *state, v *value.Value, e *Event) *value.Value {
	for _, t := range v.Terms {
		if t.Atom.Op != value.OpSelect {
			continue
		}
		cond := t.Atom.Args[0]
		holds, known := s.facts.Decided(cond, *e.Threads)
		if e.Guard != nil && cond == e.Guard {
			holds, known = true, true
		} else if e.Guard != nil && cond == w.pool.Not(e.Guard) {
			holds, known = false, true
		}
		if !known {
			continue
		}
		side := t.Atom.Args[1]
		if !holds {
			side = t.Atom.Args[2]
		}
		rest := w.pool.Sub(v.Width, v, w.pool.Scale(v.Width, w.pool.Alone(t.Atom), t.Factor))
		return w.valueUnderGuard(s,
			w.pool.Add(v.Width, rest, w.pool.Scale(v.Width, side, t.Factor)), e)
	}
	return v
}

// narrow returns the threads of s for which a guard is not false by their thread index.
func (w *walk) narrow(g *value.Value, s value.Set) value.Set {
	if g.Tid() {
		return w.pool.Where(g, s)
	}
	if a, not := g.Condition(); a != nil && a.Op == value.OpAnd && !not &&
		a.Nested < value.MaxNested {
		return w.narrow(a.Args[1], w.narrow(a.Args[0], s))
	}
	return s
}

// repeatsPrevious reports whether an instruction had the same operand values in its previous
// execution, with only waits after that execution.
func (w *walk) repeatsPrevious(s *state, in *ir.Instr, e *Event) bool {
	for was := range s.events.backward() {
		if was.In == in {
			return slices.Equal(was.Vals[1:], e.Vals[1:])
		}
	}
	return false
}

// values returns the values of the operands of an instruction, or nil for operands without a
// value.
func (w *walk) values(s *state, in *ir.Instr) []*value.Value {
	list := make([]*value.Value, len(in.Args))
	for i := range in.Args {
		o := &in.Args[i]
		switch o.Kind {
		case ir.Address:
			if len(o.Args()) > 0 {
				list[i] = w.operand(s, &o.Args()[0], 64)
			}
		case ir.Register, ir.Int, ir.Variable, ir.Special:
			list[i] = w.operand(s, o, 64)
		case ir.Pair, ir.Element, ir.Group, ir.Vector:
		}
	}
	return list
}

// guard returns the value of the predicate of an instruction, or nil if the instruction has none.
func (w *walk) guard(s *state, in *ir.Instr) *value.Value {
	if in.Guard.Reg == nil {
		return nil
	}
	v := w.reg(s, in.Guard.Reg)
	if in.Guard.Not {
		v = w.pool.Not(v)
	}
	return v
}

// reg returns the value of a register. A register that was never written has an unknown value.
func (w *walk) reg(s *state, r *ir.Reg) *value.Value {
	if n := w.at(r); n >= 0 {
		if v := s.regs.at(n); v != nil && w.cond != nil {
			return w.selectedValue(v)
		} else if v != nil {
			return v
		}
	}
	return w.pool.Atom(bitsOf(r), value.OpRegister, strings.Clone(r.Name), r, value.Lane)
}

// selectedValue returns v under the assumption w.cond: a selection by w.cond is replaced by the
// selected value.
func (w *walk) selectedValue(v *value.Value) *value.Value {
	a := v.Single()
	if a == nil || a.Op != value.OpSelect {
		return v
	}
	switch a.Args[0] {
	case w.cond:
		return a.Args[1]
	case w.pool.Not(w.cond):
		return a.Args[2]
	}
	return v
}

// bitsOf returns the width of a register in bits.
func bitsOf(r *ir.Reg) int {
	if b := r.Type.Bits(); b > 1 {
		return b * max(1, int(r.Vec))
	}
	return 1
}
