// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"slices"
	"strings"
)

// additions returns the words that make the modifiers legal if one of them is added. These are
// the values of the only empty slot, and the extra words of longer names of the same instruction,
// such as .lo in mul.lo.
func (m *Matcher) additions(list []*Instruction, name string, mods []Mod) []string {
	var words []string
	add := func(word string) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, ins := range list {
		for i := range ins.Forms {
			x := assignMost(&ins.Forms[i], mods)
			if len(x.unmatched) > 0 || len(x.missing) != 1 {
				continue
			}
			slot := x.missing[0]
			for _, v := range x.form.Slots[slot].Values {
				x.slots[slot] = v.Mod
				if m.isLegal(x) {
					add(m.set.Mods[v.Mod])
				}
			}
		}
	}
	for i := range m.set.entries {
		rest, longer := strings.CutPrefix(m.set.entries[i].name, name+".")
		if !longer {
			continue
		}
		ins := m.set.instruction(i)
		for f := range ins.Forms {
			if x := assignMost(&ins.Forms[f], mods); len(x.unmatched)+len(x.missing) == 0 &&
				m.isLegal(x) {
				add("." + rest)
				break
			}
		}
	}
	return words
}

// isLegal reports whether the modifiers in the slots of form x.form are a legal combination.
func (m *Matcher) isLegal(x *mismatch) bool {
	if m.closedGateOf(x.form, x.slots) != nil {
		return false
	}
	for _, r := range x.form.Rules {
		if !r.Holds.Operands() && !r.Holds.holds(x.slots, nil) {
			return false
		}
	}
	for i := range x.form.Tables {
		t := &x.form.Tables[i]
		if !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.fits(t, x.slots) }) {
			return false
		}
	}
	return true
}

// oneOf lists alternatives for a message.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, " ")
}

// partlyMatches reports whether the required gates of some form are open.
func (m *Matcher) partlyMatches(list []*Instruction) bool { return m.hasOpenForm(list, NoMod) }

// hasOpenForm reports whether some form that accepts modifier mod has all required gates open. For
// NoMod, every form counts.
func (m *Matcher) hasOpenForm(list []*Instruction, mod Mod) bool {
	open := func(g Gate) bool { return g.Open(m.version, m.target) }
	return slices.ContainsFunc(list, func(ins *Instruction) bool {
		return slices.ContainsFunc(ins.Forms, func(f Form) bool {
			has := mod == NoMod
			for i := range f.Slots {
				v := f.Slots[i].value(mod)
				has = has || v != nil && open(v.Gate)
				if f.Slots[i].Required &&
					!slices.ContainsFunc(f.Slots[i].Values,
						func(v Value) bool { return open(v.Gate) }) {
					return false
				}
			}
			return has && !slices.ContainsFunc(f.Gates, func(g Gate) bool { return !open(g) }) &&
				!slices.ContainsFunc(f.Gone, open)
		})
	})
}
