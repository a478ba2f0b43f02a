// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
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
			return w.unknown(s, nil, width)
		}
		return w.operand(s, &o.Args()[0], width)
	default:
		return w.unknown(s, nil, width)
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
		w.give(s, st, cond)
	} else if of, found := w.recall(s, st.memo); !found {
		w.give(s, st, nil)
		w.note(s, st.memo, of)
	}
}

// lanes returns the threads whose values are kept together. Lanes of a warp may exchange values
// after they reconverge.
func (w *walk) lanes(s *state) value.Set {
	if len(s.open) > 0 {
		return s.threads
	}
	return s.threads.Warp(w.pool.All())
}

// give sets the results of an instruction, under condition cond or always.
func (w *walk) give(s *state, st *step, cond *value.Value) {
	in := st.in
	set := func(o *ir.Operand, v *value.Value) {
		if o.Kind != ir.Register {
			return
		}
		r := o.Reg
		n := w.at(r)
		if n < 0 {
			return
		}
		v = w.fit(v, bitsOf(r))
		if o.Text() != "" {
			v = w.unknown(s, in, bitsOf(r))
		}
		if cond != nil {
			w.cond = w.pool.Not(cond)
			v = w.pool.Select(cond, v, w.fit(w.reg(s, r), v.Width))
			w.cond = cond
		}
		s.put(n, v)
	}
	w.cond = cond
	w.result(s, st, set)
	w.cond = nil
}

// localPointer reports whether a value may be the address of a local variable: a sum with one, or a
// value that is not a load, a parameter or another variable.
func localPointer(v *value.Value) bool {
	for _, t := range v.Terms {
		switch a := t.Atom; a.Op {
		case value.OpLoad, value.OpParameter:
		case value.OpVariable:
			if of, ok := a.Ref.(*ir.Var); !ok || of.Space.Base() == isa.Local {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// fit returns v in the width of a register.
func (w *walk) fit(v *value.Value, width int) *value.Value {
	if v.Width == width {
		return v
	}
	if width == 1 {
		return w.pool.Atom(1, value.OpCvt, "", nil, value.Constant, v)
	}
	return w.pool.Resize(width, v, true)
}

// Operations of instructions, by their heads.
var (
	bitwise         = map[isa.Head]value.Op{isa.HeadAnd: value.OpAnd, isa.HeadOr: value.OpOr, isa.HeadXor: value.OpXor}
	divisions       = map[isa.Head]value.Op{isa.HeadDiv: value.OpDiv, isa.HeadRem: value.OpRem, isa.HeadMin: value.OpMin, isa.HeadMax: value.OpMax}
	signedDivisions = map[isa.Head]value.Op{isa.HeadDiv: value.OpSDiv, isa.HeadRem: value.OpSRem, isa.HeadMin: value.OpSMin, isa.HeadMax: value.OpSMax}
)

// result evaluates an instruction, and calls set with each written operand and its value.
func (w *walk) result(s *state, st *step, set func(*ir.Operand, *value.Value)) {
	in := st.in
	arg := func(i, width int) *value.Value {
		if i < len(in.Args) {
			return w.operand(s, &in.Args[i], width)
		}
		return w.pool.Const(width, 0)
	}
	width, signed, float := st.width, st.signed, st.float
	switch st.head {
	case isa.HeadMov:
		w.move(s, st, set)
		return
	case isa.HeadCvta:
		set(&in.Args[0], arg(1, 64))
		return
	case isa.HeadIsspacep:
		// A pointer that other threads know, or that is an argument, is not to local memory: code for
		// that is not followed.
		if v := arg(1, 64); in.HasMod(isa.ModLocal) && !localPointer(v) {
			set(&in.Args[0], w.pool.Bool(false))
			return
		}
	case isa.HeadAdd, isa.HeadSub:
		if float || !st.plain {
			break
		}
		if st.head == isa.HeadAdd {
			set(&in.Args[0], w.combine(s, value.OpAdd, width, w.fit(arg(1, width), width), w.fit(arg(2, width), width)))
		} else {
			set(&in.Args[0], w.pool.Sub(width, w.fit(arg(1, width), width), w.fit(arg(2, width), width)))
		}
		return
	case isa.HeadNeg:
		if float {
			break
		}
		set(&in.Args[0], w.pool.Scale(width, arg(1, width), -1))
		return
	case isa.HeadMul, isa.HeadMad:
		if float || !st.plain {
			break
		}
		a, b := arg(1, width), arg(2, width)
		if st.high {
			v := w.pool.High(width, a, b, signed)
			if v == nil {
				break
			}
			if st.head == isa.HeadMad {
				v = w.pool.Add(width, v, w.fit(arg(3, width), width))
			}
			set(&in.Args[0], v)
			return
		}
		if st.wide {
			width *= 2
			a, b = w.pool.Resize(width, a, signed), w.pool.Resize(width, b, signed)
		}
		v := w.pool.Binary(value.OpMul, width, a, b)
		if st.head == isa.HeadMad {
			v = w.pool.Add(width, v, w.fit(arg(3, width), width))
		}
		set(&in.Args[0], v)
		return
	case isa.HeadShl:
		set(&in.Args[0], w.pool.Binary(value.OpShl, width, arg(1, width), arg(2, 32)))
		return
	case isa.HeadShr:
		op := value.OpShr
		if signed {
			op = value.OpSar
			if _, h, ok := arg(1, width).Bounds(); ok && (width == 64 || h < 1<<31) {
				op = value.OpShr
			}
		}
		set(&in.Args[0], w.pool.Binary(op, width, arg(1, width), arg(2, 32)))
		return
	case isa.HeadAnd, isa.HeadOr, isa.HeadXor:
		set(&in.Args[0], w.combine(s, bitwise[st.head], width, w.fit(arg(1, width), width), w.fit(arg(2, width), width)))
		return
	case isa.HeadNot:
		if width == 1 {
			set(&in.Args[0], w.pool.Not(arg(1, 1)))
			return
		}
		set(&in.Args[0], w.pool.Sub(width, w.pool.Const(width, -1), arg(1, width)))
		return
	case isa.HeadDiv, isa.HeadRem, isa.HeadMin, isa.HeadMax:
		if float || !st.plain {
			break
		}
		a, b := arg(1, width), arg(2, width)
		if _, h, ok := a.Bounds(); ok && h < 1<<31 && b.Const() && b.K > 0 {
			signed = false
		}
		op := divisions[st.head]
		if signed {
			op = signedDivisions[st.head]
		}
		set(&in.Args[0], w.pool.Binary(op, width, a, b))
		return
	case isa.HeadSelp:
		c, a, b := arg(3, 1), arg(1, width), arg(2, width)
		if holds, known := s.facts.Decided(c, w.lanes(s)); known {
			c = w.pool.Bool(holds)
		}
		set(&in.Args[0], w.pool.Select(c, w.fit(a, width), w.fit(b, width)))
		return
	case isa.HeadSetp:
		w.compare(s, st, set)
		return
	case isa.HeadCvt:
		if float {
			break
		}
		if o := &in.Args[1]; o.Kind == ir.Register || o.Kind == ir.Int || o.Kind == ir.Special {
			from := arg(1, width)
			if st.from < from.Width && st.from >= 8 {
				from = w.pool.Resize(st.from, from, true)
			}
			set(&in.Args[0], w.pool.Resize(width, from, st.fromSigned))
			return
		}
	case isa.HeadBfe:
		p, n := arg(2, 32), arg(3, 32)
		if !signed && p.Const() && n.Const() && n.K > 0 && n.K < 63 {
			v := w.pool.Binary(value.OpShr, width, arg(1, width), p)
			set(&in.Args[0], w.pool.Binary(value.OpAnd, width, v, w.pool.Const(width, 1<<n.K-1)))
			return
		}
	case isa.HeadBfi:
		if p, n := arg(3, 32), arg(4, 32); p.Const() && n.Const() {
			set(&in.Args[0], w.insert(width, w.fit(arg(1, width), width), w.fit(arg(2, width), width), p.K&0xff, n.K&0xff))
			return
		}
	case isa.HeadLd:
		if w.load(s, st, set) {
			return
		}
	case isa.HeadShfl:
		if w.shuffle(s, in, set) {
			return
		}
	case isa.HeadVote, isa.HeadRedux:
		if w.vote(s, st, set) {
			return
		}
	case isa.HeadActivemask:
		w.executing(s, in, set)
		return
	case isa.HeadElect:
		w.elect(in, set)
		return
	case isa.HeadMapa:
		set(&in.Args[0], w.mapped(s, width, arg(1, width), arg(2, 32)))
		return
	case isa.HeadMbarrier:
		if e := s.events.last(); st.kind == Wait && e != nil && e.In == in && e.Done != nil {
			o := &in.Args[0]
			if o.Kind == ir.Pair {
				o = &o.Args()[0]
			}
			set(o, e.Done)
			return
		}
	}
	w.opaque(s, in, set)
	if st.kind == Arrive && in.Args[0].Kind == ir.Register {
		if e := s.events.last(); e != nil && e.In == in {
			e.Done = w.reg(s, in.Args[0].Reg)
		}
	}
}

// insert evaluates bfi: n bits of b from bit at on are replaced by bits of a.
func (w *walk) insert(width int, a, b *value.Value, at, n int64) *value.Value {
	n = min(n, int64(width)-at)
	if n <= 0 {
		return b
	}
	field := int64(-1)
	if n < 64 {
		field = 1<<n - 1
	}
	k := func(bits int64) *value.Value { return w.pool.Const(width, bits) }
	kept := w.pool.Binary(value.OpAnd, width, b, k(^(field << at)))
	return w.pool.Add(width, kept, w.pool.Binary(value.OpShl, width, w.pool.Binary(value.OpAnd, width, a, k(field)), w.pool.Const(32, at)))
}

// move evaluates mov, including packing and unpacking.
func (w *walk) move(s *state, st *step, set func(*ir.Operand, *value.Value)) {
	in := st.in
	if len(in.Args) != 2 {
		w.opaque(s, in, set)
		return
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
			set(to, w.pool.Resize(width, parts[0], false))
			return
		}
		set(to, w.pool.Atom(width, value.OpPack, "", nil, value.Constant, parts...))
	case to.Kind == ir.Vector:
		v := w.operand(s, from, width)
		a := v.Single()
		for i := range to.Args() {
			switch {
			case a != nil && a.Op == value.OpPack && len(a.Args) == len(to.Args()):
				set(&to.Args()[i], a.Args[i])
			case i == 0 && width == 64 && len(to.Args()) == 2:
				set(&to.Args()[i], w.pool.Resize(32, v, true))
			default:
				set(&to.Args()[i], w.pool.Atom(width/len(to.Args()), value.OpPart, strconv.Itoa(i), nil, value.Constant, v))
			}
		}
	case from.Kind == ir.Single || from.Kind == ir.Double || from.Kind == ir.Raw || from.Kind == ir.Function:
		w.opaque(s, in, set)
	default:
		set(to, w.operand(s, from, width))
	}
}

// compare evaluates setp, with or without a predicate to combine with.
func (w *walk) compare(s *state, st *step, set func(*ir.Operand, *value.Value)) {
	in, width := st.in, st.width
	if st.float || len(in.Args) < 3 {
		w.opaque(s, in, set)
		return
	}
	a, b := w.fit(w.operand(s, &in.Args[1], width), width), w.fit(w.operand(s, &in.Args[2], width), width)
	v := w.pool.Compare(st.compares, st.signed && !st.unsigned, a, b)
	opposite := w.pool.Not(v)
	if len(in.Args) > 3 && st.combines != value.NoOp {
		c := w.operand(s, &in.Args[3], 1)
		v, opposite = w.pool.Binary(st.combines, 1, v, c), w.pool.Binary(st.combines, 1, opposite, c)
	}
	to := &in.Args[0]
	if to.Kind == ir.Pair {
		set(&to.Args()[0], v)
		set(&to.Args()[1], opposite)
		return
	}
	set(to, v)
}
