// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"iter"
	"strings"
)

// Canonical returns an opcode with its modifiers in the order of the PTX manual. It returns op
// and false if no form has these modifiers, or if a modifier is repeated or has no effect.
func (s *Set) Canonical(op string) (string, bool) {
	found, name, rest := s.split(op)
	mods, ok := s.parseMods(rest)
	if found == nil || !ok {
		return op, false
	}
	a := assignment{mods: mods}
	a.done = func() bool { return s.form(a.form).Allows(a.slots) }
	for _, e := range found {
		forms := s.outline(int(e)).forms
		for i := range forms {
			a.begin(&forms[i])
			if !a.place(0) {
				continue
			}
			return s.spell(op, name, a.slots), true
		}
	}
	return op, false
}

// spell returns a name with the modifiers in slots, or op itself if the result has the same text,
// which avoids an allocation.
func (s *Set) spell(op, name string, slots []Mod) string {
	rest, same := strings.CutPrefix(op, name)
	for _, m := range slots {
		if same {
			rest, same = strings.CutPrefix(rest, s.Mods[m])
		}
	}
	if same && rest == "" {
		return op
	}
	var b strings.Builder
	b.Grow(len(op))
	b.WriteString(name)
	for _, m := range slots {
		b.WriteString(s.Mods[m])
	}
	return b.String()
}

// parseMods looks up the modifiers in rest, which begins with a dot or is empty. The result is
// false if a modifier is unknown.
func (s *Set) parseMods(rest string) ([]Mod, bool) {
	var mods []Mod
	for word := range words(rest) {
		m, ok := s.mod(word)
		if !ok {
			return nil, false
		}
		mods = append(mods, m)
	}
	return mods, true
}

// words yields the modifiers in rest, each with its dot. rest begins with a dot or is empty.
func words(rest string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest != "" {
			word := rest
			if dot := strings.IndexByte(rest[1:], '.'); dot >= 0 {
				word = rest[:dot+1]
			}
			if !yield(word) {
				return
			}
			rest = rest[len(word):]
		}
	}
}

// Canonical returns an opcode of the standard instruction set with its modifiers in the order of
// the PTX manual; see Set.Canonical.
func Canonical(op string) (string, bool) { return Standard().Canonical(op) }
