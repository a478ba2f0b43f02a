// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"math/rand/v2"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A maker makes operands for a form. With plain set, it always makes the simplest choice.
// Otherwise, it chooses at random from all that the table allows.
type maker struct {
	rng     *rand.Rand
	plain   bool
	next    int  // number of the next register
	crowded bool // inside a bracket with several operands, where an address has no offset
}

// instance makes operands for a candidate. It returns false if the table requires an operand that a
// probe cannot provide (the lists of call).
func (m *maker) instance(op string, c *isa.Candidate) (instance, bool) {
	m.next = 0
	args, ok := m.list(c.Args)
	return instance{op: op, args: args}, ok
}

func (m *maker) list(wants []isa.Want) ([]thing, bool) {
	var out []thing
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
		t, ok := m.one(w)
		if !ok {
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

func (m *maker) one(w *isa.Want) (thing, bool) {
	if w.Inside != nil {
		m.crowded = len(w.Inside) > 1
		parts, ok := m.list(w.Inside)
		m.crowded = false
		if !ok {
			return thing{}, false
		}
		a := address(parts)
		if w.TakesUnified() && !m.plain && parts[0].arg.Kind == isa.ArgReg && m.rng.IntN(6) == 0 {
			a = unified(a)
		}
		return a, true
	}
	if len(w.Kinds) == 0 {
		return thing{}, false
	}
	k := &w.Kinds[0]
	if !m.plain {
		k = &w.Kinds[m.rng.IntN(len(w.Kinds))]
	}
	t, ok := m.kind(w.Access, k)
	if !ok {
		return thing{}, false
	}
	if w.Pair != nil &&
		(w.Pair.Presence == isa.Always || w.Pair.Presence == isa.Maybe && !m.plain &&
			m.rng.IntN(2) == 0) {
		half, ok := m.one(w.Pair)
		if !ok {
			return thing{}, false
		}
		t = pair(t, half)
	}
	return t, true
}

func (m *maker) kind(access isa.Access, k *isa.WantKind) (thing, bool) {
	if k.Word == isa.KParts {
		parts, ok := m.list(k.Fields)
		return vector(parts), ok
	}
	if k.Len < 0 {
		return m.single(access, k)
	}
	parts := make([]thing, k.Len)
	for i := range parts {
		if k.Word == isa.KImm {
			t, ok := m.single(access, k)
			if !ok {
				return thing{}, false
			}
			parts[i] = t
			continue
		}
		parts[i] = register(plainest(k.Settled), m.number())
	}
	return vector(parts), true
}

func (m *maker) number() int {
	m.next++
	return m.next
}

func (m *maker) single(access isa.Access, k *isa.WantKind) (thing, bool) {
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
			p = negated(p)
		}
		return p, true
	case isa.KSreg:
		switch bits := k.Settled.Bits(); {
		case bits == 64:
			return special("%clock64", isa.U64), true
		case bits == 0 || bits == 32 || k.Relax && bits < 32:
			return special("%clock", isa.U32), true
		}
		return thing{}, false
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
		// The declaration of a sampler needs texmode_independent. Only in that mode may a sampler
		// accompany a texture.
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
	return thing{}, false
}

// handle returns the name of an opaque variable, or a register that holds its handle.
func (m *maker) handle(t isa.Type) (thing, bool) {
	if !m.plain && m.rng.IntN(2) == 0 {
		return register(isa.B64, m.number()), true
	}
	return variable(isa.Global, t)
}

// base returns the base of an address.
func (m *maker) base(k *isa.WantKind) thing {
	if k.In == isa.Tensor {
		return register(isa.B32, m.number())
	}
	if k.In == isa.ParamFunc { // in a kernel, only named ones are accepted
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

// register returns a register of a suitable type: the plainest, or a random one.
func (m *maker) register(k *isa.WantKind) thing {
	t := plainest(k.Settled)
	if !m.plain && m.rng.IntN(2) == 0 {
		fit := fitting(k.Settled, k.Relax)
		t = fit[m.rng.IntN(len(fit))]
	}
	return m.part(k, register(t, m.number()))
}

// part selects a part of a register, or adds a sign, if the instruction allows it.
func (m *maker) part(k *isa.WantKind, t thing) thing {
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

// plainest returns the register type that always fits: untyped bits, or a predicate.
func plainest(t isa.Type) isa.Type {
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

// registerTypes returns the types that registers can have.
func registerTypes() []isa.Type {
	var out []isa.Type
	for t := isa.Predicate; t.String() != ""; t++ {
		if t.Register() {
			out = append(out, t)
		}
	}
	return out
}

func fitting(want isa.Type, relaxed bool) []isa.Type {
	out := []isa.Type{plainest(want)}
	for _, t := range registerTypes() {
		// Registers of 128 bits and of packed halves have gates of their own.
		if isa.Fits(want, t, relaxed) && t.Class() != isa.Half && t != isa.B128 {
			out = append(out, t)
		}
	}
	return out
}

// constant returns a constant in range.
func (m *maker) constant(k *isa.WantKind) (thing, bool) {
	switch k.Settled.Class() {
	case isa.Float:
		if k.Settled.Bits() == 64 {
			return float("0d3FF0000000000000", isa.F64), true
		}
		return float("0f3F800000", isa.F32), true
	case isa.Half, isa.Packed, isa.Lanes:
		return thing{}, false
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
