// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// An operandResolver resolves the operands of a candidate: types from slots, lengths from slots
// and tables, presence from conditions on modifiers.
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
			s.o.valued = s.o.valued || o.If.dependsOnValues()
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

// word returns the text of the modifier in a slot.
func (s *operandResolver) word(slot int) string { return s.m.set.Mods[s.c.Slots[slot]] }

// trailingNumber returns the length that a modifier names: 4 for .v4, 16 for .x16, 2 for .2d. It
// returns -1, for a scalar, if the slot is empty.
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

// accepts reports whether c accepts the operands args.
func (c *Candidate) accepts(m *Matcher, args []Arg) bool {
	var t tally
	if c.fitsSequence(c.Args, args, &t, m) {
		return true
	}
	alone := besideSink(args)
	t = tally{}
	return alone != nil && c.fitsSequence(c.Args, alone, &t, m)
}

// besideSink returns args with a first operand d|_ replaced by d, which ptxas treats the same. It
// returns nil if the first operand has another form.
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

// conditionsHold reports whether the conditions on several operands hold. It is called when all
// operands have matched.
func (c *Candidate) conditionsHold(m *Matcher, t *tally) bool {
	if t.handle && !acceptsHandles(m.version, m.target) {
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
	return c.presencesHold(c.Args, t)
}

// acceptsHandles reports whether registers may hold handles of textures and surfaces (PTX 3.1,
// sm_20).
func acceptsHandles(v Version, t Target) bool {
	first, _ := ParseTarget("sm_20")
	return v >= 301 && t >= first
}

// presencesHold reports whether the conditions on the presence of operands hold.
func (c *Candidate) presencesHold(list []Want, t *tally) bool {
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
		if here && !c.presencesHold(w.Inside, t) {
			return false
		}
	}
	return true
}

// fitsSequence reports whether args match list, with or without each optional operand. If outer is
// set, the list is the outermost, and the conditions on several operands must also hold.
func (c *Candidate) fitsSequence(list []Want, args []Arg, t *tally, outer *Matcher) bool {
	if len(list) == 0 {
		return len(args) == 0 && (outer == nil || c.conditionsHold(outer, t))
	}
	w := &list[0]
	if len(args) > 0 && w.Presence != Never {
		before := t.given
		if c.fitsOne(w, &args[0], t) {
			t.add(w.ID, &args[0])
			if c.fitsSequence(list[1:], args[1:], t, outer) {
				return true
			}
		}
		t.given = before
	}
	if w.Presence == Always {
		return false
	}
	return c.fitsSequence(list[1:], args, t, outer)
}

// fitsOne reports whether a single operand matches.
func (c *Candidate) fitsOne(w *Want, a *Arg, t *tally) bool {
	if a.Kind == ArgUnknown {
		return true
	}
	if w.Inside != nil {
		if a.Kind != ArgAddress || a.Unified && !w.TakesUnified() || len(a.Elems) > 1 &&
			a.Elems[0].hasOffset() {
			// an operand with an offset must be the only one in its bracket
			return false
		}
		return c.fitsSequence(w.Inside, a.Elems, t, nil)
	}
	if w.Pair != nil {
		if a.Kind == ArgPair {
			if a.Elems[0].Kind == ArgSink && a.Elems[1].Kind == ArgSink {
				return false // both halves are missing: a syntax error
			}
			if w.Pair.Presence == Never || !c.fitsOne(w.Pair, &a.Elems[1], t) {
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
		if k := &w.Kinds[i]; c.fitsKind(w.Access, k, a, t) {
			t.handle = t.handle || a.Kind == ArgReg &&
				(k.Word == KTexref || k.Word == KSampler || k.Word == KSurfref)
			return true
		}
	}
	return false
}

// fitsKind reports whether an operand matches one of the accepted kinds: a brace vector, or a
// single operand.
func (c *Candidate) fitsKind(access Access, k *WantKind, a *Arg, t *tally) bool {
	if k.Word == KParts {
		return a.Kind == ArgVector && c.fitsSequence(k.Fields, a.Elems, t, nil)
	}
	if k.Len < 0 {
		if a.Kind == ArgVector && len(a.Elems) == 1 && k.Relax {
			a = &a.Elems[0] // ld and st accept one element in braces
		}
		return k.fitsSingle(access, a)
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

// TakesUnified reports whether .unified may follow the brackets: the spec allows it, and the
// space is global or generic.
func (w *Want) TakesUnified() bool {
	if !w.Unified || len(w.Inside) == 0 || len(w.Inside[0].Kinds) == 0 {
		return false
	}
	in := w.Inside[0].Kinds[0].In
	return in == Generic || in == Global
}
