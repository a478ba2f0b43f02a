// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import "slices"

// Canonical spells an opcode with its modifiers in the manual's order. It reports false, and returns
// op as it is, when no form has these modifiers or when one of them is written twice or means
// nothing: what cannot be judged is not touched.
func (s *Set) Canonical(op string) (string, bool) {
	list, name, rest := s.split(op)
	mods, ok := s.parseMods(rest)
	if list == nil || !ok {
		return op, false
	}
	for _, ins := range list {
		for i := range ins.Forms {
			f := &ins.Forms[i]
			a := assignment{form: f, mods: mods, slots: make([]Mod, len(f.Slots))}
			a.done = func() bool { return f.Allows(a.slots) }
			if !a.place(0) {
				continue
			}
			out := name
			for _, m := range a.slots {
				out += s.Mods[m]
			}
			return out, true
		}
	}
	return op, false
}

// parseMods looks up the modifiers of rest, which begins with a dot or is empty.
func (s *Set) parseMods(rest string) ([]Mod, bool) {
	var mods []Mod
	for _, w := range words(rest) {
		m, ok := s.mods["."+w]
		if !ok {
			return nil, false
		}
		mods = append(mods, m)
	}
	return slices.Clip(mods), true
}

// Canonical spells an opcode of the standard instruction set with its modifiers in the manual's
// order; see Set.Canonical.
func Canonical(op string) (string, bool) { return Standard().Canonical(op) }
