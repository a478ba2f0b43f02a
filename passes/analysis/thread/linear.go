// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Linear value is a constant N plus a sum of at most two terms that are the same for all
// threads of the block. Terms are compared by name, because each role computes its own registers.
type Linear struct {
	N       int64
	terms   [2]term // the terms; used of them are valid
	used    int
	unknown bool // the sum has more than two terms, and the value is unknown
}

// A term is a named value with its coefficient.
type term struct {
	name  string
	times int64
	// block is set if the value is the index of the block or of its tile. It grows by one from
	// each block to the next.
	block bool
}

// plus returns l + times*o.
func (l Linear) plus(o Linear, times int64) Linear {
	sum := Linear{N: l.N + times*o.N, unknown: l.unknown || o.unknown}
	add := func(x term, times int64) {
		for i := range sum.terms[:sum.used] {
			if sum.terms[i].name == x.name {
				sum.terms[i].times += times * x.times
				return
			}
		}
		if sum.used == len(sum.terms) {
			sum.unknown = true
			return
		}
		x.times *= times
		sum.terms[sum.used] = x
		sum.used++
	}
	for _, x := range l.terms[:l.used] {
		add(x, 1)
	}
	for _, x := range o.terms[:o.used] {
		add(x, times)
	}
	return sum
}

// Comparable reports whether two linear values differ by a constant.
func (l Linear) Comparable(o Linear) bool {
	if l.unknown || o.unknown {
		return false
	}
	d := l.plus(o, -1)
	return !d.unknown &&
		!slices.ContainsFunc(d.terms[:d.used], func(x term) bool { return x.times != 0 })
}

// BlockStep returns the difference between the values of one block and the next, or 0 if the
// difference is unknown.
func (l Linear) BlockStep() int64 {
	if l.unknown || l.used != 1 || !l.terms[0].block {
		return 0
	}
	return l.terms[0].times
}

// maxTerms limits the number of instructions that Linear evaluates, and maxNameLength limits the
// length of a name.
const (
	maxTerms      = 64
	maxNameLength = 512
)

// Linear returns the linear form of an operand. ok is false if the operand has no known linear
// form.
func (e *Eval) Linear(o *ir.Operand) (l Linear, ok bool) {
	left := maxTerms
	return e.linear(o, &left)
}

func (e *Eval) linear(o *ir.Operand, left *int) (l Linear, ok bool) {
	if o.Kind == ir.Int {
		return Linear{N: o.Value}, true
	}
	if o.Kind != ir.Register {
		return Linear{}, false
	}
	r := o.Reg
	if name := e.cornerName(r); name != "" {
		return Linear{terms: [2]term{{name, 1, true}}, used: 1}, true
	}
	if v := e.Value(r); v.Kind == Constant {
		return Linear{N: v.N}, !isAddress(v.N)
	}
	w := e.lookup(r)
	if *left--; w == nil || w.def == nil || w.def.Form == nil || w.def.Guard.Reg != nil ||
		*left < 0 {
		return l, false
	}
	if w.op.width == 32 && w.op.typ.Class() != isa.Bits || w.op.kind == isa.KindShl &&
		w.op.width == 32 {
		switch in := w.def; w.op.kind {
		case isa.KindAdd, isa.KindSub:
			a, known := e.linear(&in.Args[1], left)
			b, too := e.linear(&in.Args[2], left)
			times := int64(1)
			if w.op.kind == isa.KindSub {
				times = -1
			}
			if known && too {
				return a.plus(b, times), true
			}
		case isa.KindMulLo, isa.KindShl, isa.KindMadLo:
			return e.linearProduct(r, w, left)
		}
	}
	return e.uniformTerm(r)
}

// linearProduct returns the linear form of the result of a product, shift or multiply-add.
func (e *Eval) linearProduct(r *ir.Reg, w *tracked, left *int) (l Linear, ok bool) {
	in, shift := w.def, w.op.kind == isa.KindShl
	a, known := e.linear(&in.Args[1], left)
	b, too := e.linear(&in.Args[2], left)
	switch {
	case !known || !too:
		return l, false
	case shift && b.used == 0 && b.N >= 0 && b.N < 32:
		l = Linear{}.plus(a, 1<<b.N)
	case shift:
		return l, false
	case b.used == 0:
		l = Linear{}.plus(a, b.N)
	case a.used == 0:
		l = Linear{}.plus(b, a.N)
	default:
		return e.uniformTerm(r)
	}
	if w.op.kind == isa.KindMadLo {
		c, known := e.linear(&in.Args[3], left)
		return l.plus(c, 1), known
	}
	return l, true
}

// cornerName returns the name of a register that holds the row or the column of the block's tile,
// or "". It also returns "" if the kernel has several schedules, because their tiles have different
// meanings.
func (e *Eval) cornerName(r *ir.Reg) string {
	if e.notes.Schedules != 1 {
		return ""
	}
	for i := range e.notes.Corners {
		switch r {
		case e.notes.Corners[i].Row:
			return "tile's row"
		case e.notes.Corners[i].Col:
			return "tile's column"
		}
	}
	return ""
}

// uniformTerm returns a uniform register as a term whose name is its computation.
func (e *Eval) uniformTerm(r *ir.Reg) (Linear, bool) {
	if !e.Uniform(r) {
		return Linear{}, false
	}
	var s strings.Builder
	if !e.writeComputation(r, &s) {
		return Linear{}, false
	}
	t := term{name: s.String(), times: 1}
	if in := e.Def(r); in != nil && in.Kind() == isa.KindMov && in.Args[1].Kind == ir.Special {
		t.block = strings.HasPrefix(in.Args[1].Text(), "%ctaid.")
	}
	return Linear{terms: [2]term{t}, used: 1}, true
}

// writeComputation writes the computation of a register as text. It returns false if the
// computation is unknown or too long.
func (e *Eval) writeComputation(r *ir.Reg, s *strings.Builder) bool {
	in := e.Def(r)
	if in == nil || in.Form == nil || s.Len() > maxNameLength {
		return false
	}
	if v := loadedVariable(in); v != nil {
		s.WriteString(v.Name)
		return true
	}
	s.WriteString(in.Op)
	for i := 1; i < len(in.Args); i++ {
		s.WriteByte('(')
		switch o := &in.Args[i]; o.Kind {
		case ir.Register:
			if !e.writeComputation(o.Reg, s) {
				return false
			}
		case ir.Int:
			s.WriteString(strconv.FormatInt(o.Value, 10))
		case ir.Special:
			s.WriteString(o.Text())
		default:
			return false
		}
		s.WriteByte(')')
	}
	return true
}
