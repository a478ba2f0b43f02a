// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// An operandResolver resolves the operands of a candidate: types from slots, lengths from slots and
// tables, presence from conditions on modifiers.
type operandResolver struct {
	m       *Matcher
	o       *Opcode
	c       *Candidate
	lengths [][]int // lengths in the chosen row of each table
}

func (s *operandResolver) wants(list []Operand) []Want {
	out := slab.Many(&s.m.wants, len(list))
	for i := range list {
		s.want(&out[i], &list[i])
	}
	return out
}

func (s *operandResolver) want(w *Want, o *Operand) {
	w.Operand, w.Presence = o, o.Presence
	if o.Presence == PresentIf || o.Presence == PresentWhen {
		switch {
		case o.If.Operands():
			s.o.valued = s.o.valued || o.If.compares()
		case !o.If.holds(s.c.Slots, nil):
			w.Presence = Never
		case o.Presence == PresentIf:
			w.Presence = Always
		default:
			w.Presence = Maybe
		}
	}
	w.Kinds = slab.Many(&s.m.kinds, len(o.Kinds))
	for i := range o.Kinds {
		s.kind(&w.Kinds[i], &o.Kinds[i])
	}
	if o.Inside != nil {
		w.Inside = s.wants(o.Inside)
	}
	if o.Pair != nil {
		w.Pair = slab.One(&s.m.wants)
		s.want(w.Pair, o.Pair)
	}
}

func (s *operandResolver) kind(w *WantKind, k *OperandKind) {
	w.OperandKind, w.Settled, w.Len, w.In = k, k.Type.Type, -1, k.Space.Space
	if at := k.Type.Slot; at >= 0 {
		w.Settled, _ = ParseType(s.word(int(at)))
	}
	if k.Type.Scale != 0 {
		w.Settled = w.Settled.scaled(int(k.Type.Scale))
	}
	if at := k.Space.Slot; at >= 0 {
		w.In, _ = ParseSpace(s.word(int(at)))
	}
	switch k.Count.From {
	case Fixed:
		w.Len = k.Count.N
	case FromSlot:
		w.Len = trailingNumber(s.word(k.Count.N))
	case FromTable:
		w.Len = s.lengths[k.Count.In][k.Count.N]
	}
	if k.Parts != nil {
		w.Fields = s.wants(k.Parts)
	}
	s.o.valued = s.o.valued || len(k.Range) > 0
}

// word returns the modifier in a slot.
func (s *operandResolver) word(slot int) string { return s.m.set.Mods[s.c.Slots[slot]] }

// trailingNumber returns the length in a modifier: 4 for .v4, 16 for .x16, 2 for .2d; -1 (a scalar)
// if the slot is empty.
func trailingNumber(word string) int {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "d"), "D")
	at := 0
	for at < len(word) && (word[at] == '.' || 'a' <= word[at] && word[at] <= 'z') {
		at++
	}
	n := -1
	for ; at < len(word); at++ {
		digit := int(word[at]) - '0'
		if digit < 0 || digit > 9 {
			return -1
		}
		n = max(n, 0)*10 + digit // at most three digits
	}
	return n
}

// takes reports whether c accepts args.
func (c *Candidate) takes(m *Matcher, args []Arg) bool {
	var t tally
	if c.sequence(c.Args, args, &t, m) {
		return true
	}
	alone := besideSink(args)
	t = tally{}
	return alone != nil && c.sequence(c.Args, alone, &t, m)
}

// besideSink returns args with a first operand d|_ replaced by d, which ptxas treats the same, or
// nil if there is none.
func besideSink(args []Arg) []Arg {
	if len(args) == 0 || args[0].Kind != ArgPair || len(args[0].Elems) != 2 ||
		args[0].Elems[1].Kind != ArgSink {
		return nil
	}
	d := args[0].Elems[0]
	if d.Not || d.Minus || d.Plus || d.Kind != ArgReg && d.Kind != ArgLabel {
		return nil
	}
	return append([]Arg{d}, args[1:]...)
}

// settled checks conditions on several operands, once all are known.
func (c *Candidate) settled(m *Matcher, t *tally) bool {
	if t.handle && !indirect(m.version, m.target) {
		return false
	}
	for i := range c.rules {
		if !c.rules[i].Holds.holds(c.Slots, t) {
			return false
		}
	}
	for i := range c.when {
		w := &c.when[i]
		if w.If.holds(c.Slots, t) && w.Gate.Open(m.version, m.target) == w.Gone {
			return false
		}
	}
	return c.presences(c.Args, t)
}

// indirect reports whether textures and surfaces may be named by handles (PTX 3.1, sm_20).
func indirect(v Version, t Target) bool {
	first, _ := ParseTarget("sm_20")
	return v >= 301 && t >= first
}

// presences checks the conditions on which operands are present.
func (c *Candidate) presences(list []Want, t *tally) bool {
	for i := range list {
		w := &list[i]
		here := t.has(w.ID)
		switch w.Presence {
		case PresentIf:
			if here != w.If.holds(c.Slots, t) {
				return false
			}
		case PresentWhen:
			if here && !w.If.holds(c.Slots, t) {
				return false
			}
		}
		if here && !c.presences(w.Inside, t) {
			return false
		}
	}
	return true
}

// sequence matches args against list, with and without each optional operand. At the end of the
// outermost list, for which outer is set, the conditions on several operands must be satisfied too.
func (c *Candidate) sequence(list []Want, args []Arg, t *tally, outer *Matcher) bool {
	if len(list) == 0 {
		return len(args) == 0 && (outer == nil || c.settled(outer, t))
	}
	w := &list[0]
	if len(args) > 0 && w.Presence != Never {
		before := t.given
		if c.one(w, &args[0], t) {
			t.add(w.ID, &args[0])
			if c.sequence(list[1:], args[1:], t, outer) {
				return true
			}
		}
		t.given = before
	}
	if w.Presence == Always {
		return false
	}
	return c.sequence(list[1:], args, t, outer)
}

// one matches a single operand.
func (c *Candidate) one(w *Want, a *Arg, t *tally) bool {
	if a.Kind == ArgUnknown {
		return true
	}
	if w.Inside != nil {
		if a.Kind != ArgAddress || a.Unified && !w.TakesUnified() || len(a.Elems) > 1 &&
			a.Elems[0].offset() {
			// an operand with an offset must be the only one in its bracket
			return false
		}
		return c.sequence(w.Inside, a.Elems, t, nil)
	}
	if w.Pair != nil {
		if a.Kind == ArgPair {
			if a.Elems[0].Kind == ArgSink && a.Elems[1].Kind == ArgSink {
				return false // both halves are missing: a syntax error
			}
			if w.Pair.Presence == Never || !c.one(w.Pair, &a.Elems[1], t) {
				return false
			}
			t.add(w.Pair.ID, &a.Elems[1])
			if a = &a.Elems[0]; a.Kind == ArgUnknown {
				return true
			}
		} else if w.Pair.Presence == Always {
			return false
		}
	}
	for i := range w.Kinds {
		if k := &w.Kinds[i]; c.kind(w.Access, k, a, t) {
			t.handle = t.handle || a.Kind == ArgReg &&
				(k.Word == KTexref || k.Word == KSampler || k.Word == KSurfref)
			return true
		}
	}
	return false
}

// kind matches an operand against one kind: a brace vector, or a single operand.
func (c *Candidate) kind(access Access, k *WantKind, a *Arg, t *tally) bool {
	if k.Word == KParts {
		return a.Kind == ArgVector && c.sequence(k.Fields, a.Elems, t, nil)
	}
	if k.Len < 0 {
		if a.Kind == ArgVector && len(a.Elems) == 1 && k.Relax {
			a = &a.Elems[0] // ld and st accept one element in braces
		}
		return k.single(access, a)
	}
	if a.Kind == ArgReg && a.Count > 1 { // a register declared as a vector
		return a.Count == k.Len && registerFits(k, a)
	}
	if a.Kind == ArgSreg && k.Word == KSreg {
		return a.Count == k.Len && k.specialFits(a.Type)
	}
	if a.Kind != ArgVector || len(a.Elems) != k.Len {
		return false
	}
	return k.vectorFits(access, a.Elems)
}

// TakesUnified reports whether .unified may follow the bracket: the spec allows it, and the
// space is global or generic.
func (w *Want) TakesUnified() bool {
	if !w.Unified || len(w.Inside) == 0 || len(w.Inside[0].Kinds) == 0 {
		return false
	}
	in := w.Inside[0].Kinds[0].In
	return in == Generic || in == Global
}
