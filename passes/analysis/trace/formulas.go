// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A formula computes the result of an instruction that writes one operand. It returns nil if the
// result is unknown.
type formula func(w *walk, s *state, st *step) *value.Value

// formulas holds the functions for instructions whose result depends only on the values of their
// operands.
var formulas = [math.MaxUint8 + 1]formula{
	isa.HeadAdd: (*walk).sum, isa.HeadSub: (*walk).difference, isa.HeadNeg: (*walk).negation,
	isa.HeadMul: (*walk).product, isa.HeadMad: (*walk).product,
	isa.HeadDiv: (*walk).quotient, isa.HeadRem: (*walk).quotient,
	isa.HeadMin: (*walk).quotient, isa.HeadMax: (*walk).quotient,
	isa.HeadShl: (*walk).leftShift, isa.HeadShr: (*walk).rightShift,
	isa.HeadAnd: (*walk).bits, isa.HeadOr: (*walk).bits, isa.HeadXor: (*walk).bits,
	isa.HeadNot: (*walk).complement,
	isa.HeadBfe: (*walk).extraction, isa.HeadBfi: (*walk).insertion,
	isa.HeadSelp: (*walk).selection, isa.HeadCvt: (*walk).conversion,
	isa.HeadCvta: (*walk).convertAddress, isa.HeadIsspacep: (*walk).inSpace,
	isa.HeadMapa: (*walk).mapping,
}

// arg returns the value of operand i, or zero if there is no such operand. The parameter width is
// the width of constants.
func (w *walk) arg(s *state, st *step, i, width int) *value.Value {
	if i < len(st.in.Args) {
		return w.operand(s, &st.in.Args[i], width)
	}
	return w.pool.Const(width, 0)
}

// resized returns the value of operand i, converted to the given width.
func (w *walk) resized(s *state, st *step, i, width int) *value.Value {
	return w.fit(w.arg(s, st, i, width), width)
}

// isInteger reports whether a step computes with wrapping integers.
func (st *step) isInteger() bool { return !st.float && st.plain }

func (w *walk) sum(s *state, st *step) *value.Value {
	if !st.isInteger() {
		return nil
	}
	a, b := w.resized(s, st, 1, st.width), w.resized(s, st, 2, st.width)
	return w.combine(s, value.OpAdd, st.width, a, b)
}

func (w *walk) difference(s *state, st *step) *value.Value {
	if !st.isInteger() {
		return nil
	}
	return w.pool.Sub(st.width, w.resized(s, st, 1, st.width), w.resized(s, st, 2, st.width))
}

func (w *walk) negation(s *state, st *step) *value.Value {
	if st.float {
		return nil
	}
	return w.pool.Scale(st.width, w.arg(s, st, 1, st.width), -1)
}

// product evaluates mul and mad, with the low half, the high half, or the double-width product as
// result.
func (w *walk) product(s *state, st *step) *value.Value {
	if !st.isInteger() {
		return nil
	}
	width := st.width
	a, b := w.arg(s, st, 1, width), w.arg(s, st, 2, width)
	var v *value.Value
	switch {
	case st.high:
		if v = w.pool.High(width, a, b, st.signed); v == nil {
			return nil
		}
	case st.wide:
		width *= 2
		a, b = w.pool.Resize(width, a, st.signed), w.pool.Resize(width, b, st.signed)
		v = w.pool.Binary(value.OpMul, width, a, b)
	default:
		v = w.pool.Binary(value.OpMul, width, a, b)
	}
	if st.head == isa.HeadMad {
		v = w.pool.Add(width, v, w.resized(s, st, 3, width))
	}
	return v
}

// These maps hold the operations of div, rem, min and max.
var (
	unsignedQuotients = map[isa.Head]value.Op{
		isa.HeadDiv: value.OpDiv, isa.HeadRem: value.OpRem,
		isa.HeadMin: value.OpMin, isa.HeadMax: value.OpMax,
	}
	signedQuotients = map[isa.Head]value.Op{
		isa.HeadDiv: value.OpSDiv, isa.HeadRem: value.OpSRem,
		isa.HeadMin: value.OpSMin, isa.HeadMax: value.OpSMax,
	}
)

// quotient evaluates div, rem, min and max.
func (w *walk) quotient(s *state, st *step) *value.Value {
	if !st.isInteger() {
		return nil
	}
	a, b := w.arg(s, st, 1, st.width), w.arg(s, st, 2, st.width)
	op := unsignedQuotients[st.head]
	_, high, ok := a.Bounds()
	if natural := ok && high < 1<<31 && b.Const() && b.K > 0; st.signed && !natural {
		op = signedQuotients[st.head]
	}
	return w.pool.Binary(op, st.width, a, b)
}

func (w *walk) leftShift(s *state, st *step) *value.Value {
	return w.pool.Binary(value.OpShl, st.width, w.arg(s, st, 1, st.width), w.arg(s, st, 2, 32))
}

func (w *walk) rightShift(s *state, st *step) *value.Value {
	op := value.OpShr
	if st.signed {
		_, high, ok := w.arg(s, st, 1, st.width).Bounds()
		if !ok || st.width != 64 && high >= 1<<31 {
			op = value.OpSar
		}
	}
	return w.pool.Binary(op, st.width, w.arg(s, st, 1, st.width), w.arg(s, st, 2, 32))
}

// bitwise holds the operations of and, or and xor.
var bitwise = map[isa.Head]value.Op{
	isa.HeadAnd: value.OpAnd, isa.HeadOr: value.OpOr, isa.HeadXor: value.OpXor,
}

func (w *walk) bits(s *state, st *step) *value.Value {
	a, b := w.resized(s, st, 1, st.width), w.resized(s, st, 2, st.width)
	return w.combine(s, bitwise[st.head], st.width, a, b)
}

func (w *walk) complement(s *state, st *step) *value.Value {
	if st.width == 1 {
		return w.pool.Not(w.arg(s, st, 1, 1))
	}
	return w.pool.Sub(st.width, w.pool.Const(st.width, -1), w.arg(s, st, 1, st.width))
}

// extraction evaluates bfe with a constant position and length.
func (w *walk) extraction(s *state, st *step) *value.Value {
	at, n := w.arg(s, st, 2, 32), w.arg(s, st, 3, 32)
	if st.signed || !at.Const() || !n.Const() || n.K <= 0 || n.K >= 63 {
		return nil
	}
	v := w.pool.Binary(value.OpShr, st.width, w.arg(s, st, 1, st.width), at)
	return w.pool.Binary(value.OpAnd, st.width, v, w.pool.Const(st.width, 1<<n.K-1))
}

// insertion evaluates bfi with a constant position and length.
func (w *walk) insertion(s *state, st *step) *value.Value {
	at, n := w.arg(s, st, 3, 32), w.arg(s, st, 4, 32)
	if !at.Const() || !n.Const() {
		return nil
	}
	a, b := w.resized(s, st, 1, st.width), w.resized(s, st, 2, st.width)
	return w.insert(st.width, a, b, at.K&0xff, n.K&0xff)
}

// insert returns b with n bits, starting at bit at, replaced by the low bits of a.
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
	put := w.pool.Binary(value.OpAnd, width, a, k(field))
	return w.pool.Add(width, kept, w.pool.Binary(value.OpShl, width, put, w.pool.Const(32, at)))
}

func (w *walk) selection(s *state, st *step) *value.Value {
	cond := w.arg(s, st, 3, 1)
	a, b := w.arg(s, st, 1, st.width), w.arg(s, st, 2, st.width)
	if holds, known := s.facts.Decided(cond, w.lanes(s)); known {
		cond = w.pool.Bool(holds)
	}
	return w.pool.Select(cond, w.fit(a, st.width), w.fit(b, st.width))
}

// conversion evaluates cvt between integers.
func (w *walk) conversion(s *state, st *step) *value.Value {
	if st.float {
		return nil
	}
	switch st.in.Args[1].Kind {
	case ir.Register, ir.Int, ir.Special:
	default:
		return nil
	}
	from := w.arg(s, st, 1, st.width)
	if st.from < from.Width && st.from >= 8 {
		from = w.pool.Resize(st.from, from, true)
	}
	return w.pool.Resize(st.width, from, st.fromSigned)
}

// convertAddress evaluates cvta. Addresses have the same representation in all state spaces.
func (w *walk) convertAddress(s *state, st *step) *value.Value { return w.arg(s, st, 1, 64) }

func (w *walk) mapping(s *state, st *step) *value.Value {
	return w.mapaAddress(s, st.width, w.arg(s, st, 1, st.width), w.arg(s, st, 2, 32))
}

// inSpace evaluates isspacep.local. A pointer that other threads know, or that is an argument, is
// assumed not to point to local memory: code for that case is not analyzed.
func (w *walk) inSpace(s *state, st *step) *value.Value {
	if v := w.arg(s, st, 1, 64); st.in.HasMod(isa.ModLocal) && !mayBeLocal(v) {
		return w.pool.Bool(false)
	}
	return nil
}

// mayBeLocal reports whether a value may be the address of a local variable: it is based on a
// local variable, or on a value other than a load, a parameter or another variable.
func mayBeLocal(v *value.Value) bool {
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
