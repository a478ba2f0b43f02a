// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"math/rand/v2"

	"github.com/ptxdsl/ptxdsl/isa"
)

// An operandMaker creates operands for a form. If plain is set, it chooses the simplest operand,
// otherwise a random operand of those that the table allows.
type operandMaker struct {
	rng     *rand.Rand
	plain   bool
	next    int  // index of the next register
	crowded bool // inside a bracket with several operands, an address has no offset
}

// instance creates operands for a candidate. ok is false if the form requires an operand that a
// probe cannot provide, such as the lists of call.
func (m *operandMaker) instance(op string, c *isa.Candidate) (instance, bool) {
	m.next = 0
	args, ok := m.list(c.Args)
	return instance{op: op, args: args}, ok
}

func (m *operandMaker) list(wants []isa.Want) ([]operandSample, bool) {
	var out []operandSample
	for i := range wants {
		w := &wants[i]
		switch w.Presence {
		case isa.Never:
			continue
		case isa.Maybe, isa.PresentWhen:
			if m.plain || m.rng.IntN(2) == 0 {
				continue
			}
		}
		t, ok := m.operand(w)
		if !ok {
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

func (m *operandMaker) operand(w *isa.Want) (operandSample, bool) {
	if w.Inside != nil {
		m.crowded = len(w.Inside) > 1
		parts, ok := m.list(w.Inside)
		m.crowded = false
		if !ok {
			return operandSample{}, false
		}
		a := address(parts)
		if w.TakesUnified() && !m.plain && parts[0].arg.Kind == isa.ArgReg && m.rng.IntN(6) == 0 {
			a = withUnified(a)
		}
		return a, true
	}
	if len(w.Kinds) == 0 {
		return operandSample{}, false
	}
	k := &w.Kinds[0]
	if !m.plain {
		k = &w.Kinds[m.rng.IntN(len(w.Kinds))]
	}
	t, ok := m.kind(w.Access, k)
	if !ok {
		return operandSample{}, false
	}
	if w.Pair != nil &&
		(w.Pair.Presence == isa.Always || w.Pair.Presence == isa.Maybe && !m.plain &&
			m.rng.IntN(2) == 0) {
		half, ok := m.operand(w.Pair)
		if !ok {
			return operandSample{}, false
		}
		t = pair(t, half)
	}
	return t, true
}

func (m *operandMaker) kind(access isa.Access, k *isa.WantKind) (operandSample, bool) {
	if k.Word == isa.KParts {
		parts, ok := m.list(k.Fields)
		return vector(parts), ok
	}
	if k.Len < 0 {
		return m.single(access, k)
	}
	parts := make([]operandSample, k.Len)
	for i := range parts {
		if k.Word == isa.KImm {
			t, ok := m.single(access, k)
			if !ok {
				return operandSample{}, false
			}
			parts[i] = t
			continue
		}
		parts[i] = register(plainType(k.Settled), m.number())
	}
	return vector(parts), true
}

func (m *operandMaker) number() int {
	m.next++
	return m.next
}

func (m *operandMaker) single(access isa.Access, k *isa.WantKind) (operandSample, bool) {
	switch k.Word {
	case isa.KValue:
		if !m.plain && access == isa.Read && m.rng.IntN(3) == 0 {
			if t, ok := m.constant(k); ok {
				return t, true
			}
		}
		return m.register(k), true
	case isa.KReg:
		return m.register(k), true
	case isa.KImm:
		return m.constant(k)
	case isa.KPred:
		p := register(isa.Predicate, m.number())
		if !m.plain && m.rng.IntN(2) == 0 {
			p = negate(p)
		}
		return p, true
	case isa.KSreg:
		switch bits := k.Settled.Bits(); {
		case bits == 64:
			return special("%clock64", isa.U64), true
		case bits == 0 || bits == 32 || k.Relax && bits < 32:
			return special("%clock", isa.U32), true
		}
		return operandSample{}, false
	case isa.KSym:
		space := k.In
		if space == isa.Generic {
			space = isa.Global
		}
		return variable(space, isa.B32)
	case isa.KLabel:
		return label(), true
	case isa.KFunc:
		return function(), true
	case isa.KTexref:
		return m.handle(isa.Texref)
	case isa.KSampler:
		// A sampler can be declared, and used with a texture, only with texmode_independent, so a
		// register is used instead.
		return register(isa.B64, m.number()), !m.crowded
	case isa.KSurfref:
		return m.handle(isa.Surfref)
	case isa.KSink:
		return sink(), true
	case isa.KMem:
		return m.base(k), true
	case isa.KAny:
		return register(isa.B64, m.number()), true
	}
	return operandSample{}, false
}

// handle returns the name of a variable of an opaque type, or a register that holds its handle.
func (m *operandMaker) handle(t isa.Type) (operandSample, bool) {
	if !m.plain && m.rng.IntN(2) == 0 {
		return register(isa.B64, m.number()), true
	}
	return variable(isa.Global, t)
}

// base returns the base of an address, a variable or register.
func (m *operandMaker) base(k *isa.WantKind) operandSample {
	if k.In == isa.Tensor {
		return register(isa.B32, m.number())
	}
	if k.In == isa.ParamFunc { // in a kernel, ptxas only accepts variables here
		v, _ := variable(k.In, isa.B32)
		return v
	}
	t := register(isa.B64, m.number())
	if m.plain {
		return t
	}
	if m.rng.IntN(3) == 0 {
		space := k.In
		if k.Space.Symbols != isa.Generic {
			space = k.Space.Symbols
		} else if space == isa.Generic {
			space = isa.Global
		}
		if v, ok := variable(space, isa.B32); ok {
			t = v
		}
	}
	if !m.crowded && m.rng.IntN(3) == 0 {
		t = offset(t, 16)
	}
	return t
}

// register returns a register of a type that the form accepts.
func (m *operandMaker) register(k *isa.WantKind) operandSample {
	t := plainType(k.Settled)
	if !m.plain && m.rng.IntN(2) == 0 {
		fit := fittingTypes(k.Settled, k.Relax)
		t = fit[m.rng.IntN(len(fit))]
	}
	return m.part(k, register(t, m.number()))
}

// part returns t with a selected part or a sign, if the form allows that, or t itself.
func (m *operandMaker) part(k *isa.WantKind, t operandSample) operandSample {
	if k.Part != isa.WholeOnly && !m.plain && m.rng.IntN(2) == 0 {
		fields := [...]string{".b0", ".b3", ".h0", ".h1", ".h10", ".h33", ".b10", ".b321", ".b3210",
			".b7654"}
		if f := fields[m.rng.IntN(len(fields))]; k.Part.Has(f) {
			t.text, t.arg.Part = t.text+f, f
		}
	}
	if k.Minus {
		t.text, t.arg.Minus = "-"+t.text, true
	}
	return t
}

// plainType returns the register type that every form with operand type t accepts: untyped bits,
// or a predicate.
func plainType(t isa.Type) isa.Type {
	if t.Class() == isa.Pred {
		return isa.Predicate
	}
	switch bits := t.Bits(); {
	case bits <= 8:
		return isa.B8
	case bits <= 16:
		return isa.B16
	case bits <= 32:
		return isa.B32
	case bits <= 64:
		return isa.B64
	}
	return isa.B128
}

// registerTypes returns the types that a register can have.
func registerTypes() []isa.Type {
	var out []isa.Type
	for t := isa.Predicate; t.String() != ""; t++ {
		if t.Register() {
			out = append(out, t)
		}
	}
	return out
}

func fittingTypes(want isa.Type, relaxed bool) []isa.Type {
	out := []isa.Type{plainType(want)}
	for _, t := range registerTypes() {
		// registers of 128 bits and of packed halves require certain targets
		if isa.Fits(want, t, relaxed) && t.Class() != isa.Half && t != isa.B128 {
			out = append(out, t)
		}
	}
	return out
}

// constant returns a constant operand in the range of its type.
func (m *operandMaker) constant(k *isa.WantKind) (operandSample, bool) {
	switch k.Settled.Class() {
	case isa.Float:
		if k.Settled.Bits() == 64 {
			return float("0d3FF0000000000000", isa.F64), true
		}
		return float("0f3F800000", isa.F32), true
	case isa.Half, isa.Packed, isa.Lanes:
		return operandSample{}, false
	}
	if len(k.Range) == 0 {
		return integer(1), true
	}
	s := k.Range[0]
	if m.plain {
		return integer(s.Low), true
	}
	s = k.Range[m.rng.IntN(len(k.Range))]
	steps := (s.High - s.Low) / max(s.Step, 1)
	switch m.rng.IntN(3) {
	case 0:
		return integer(s.Low), true
	case 1:
		return integer(s.Low + steps*max(s.Step, 1)), true
	}
	if steps < 0 || steps > 1<<40 {
		steps = 1 << 40
	}
	return integer(s.Low + m.rng.Int64N(steps+1)*max(s.Step, 1)), true
}
