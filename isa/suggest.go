// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"slices"
	"strings"
)

// maxSearches limits the number of searches for suggestions per matcher, because a file may contain
// many mistakes.
const maxSearches = 200

// allowSearch counts a search, and reports whether it is allowed.
func (m *Matcher) allowSearch() bool {
	m.searches++
	return m.searches <= maxSearches
}

// replacements returns the words that make the modifiers legal if they replace the modifier at
// index at.
func (m *Matcher) replacements(list []*Instruction, mods []Mod, at int) []string {
	var words []string
	others := slices.Delete(slices.Clone(mods), at, at+1)
	changed := slices.Clone(mods)
	try := func(f *Form, mod Mod) {
		word := m.set.Mods[mod]
		if mod == mods[at] || mod == NoMod || slices.Contains(words, word) {
			return
		}
		changed[at] = mod
		if x := assignMost(f, changed); len(x.unmatched)+len(x.missing) == 0 && m.isLegal(x) {
			words = append(words, word)
		}
	}
	for _, ins := range list {
		for i := range ins.Forms {
			f := &ins.Forms[i]
			x := assignMost(f, others)
			if len(x.unmatched) > 0 || len(x.missing) > 1 {
				continue
			}
			for s := range f.Slots {
				if x.slots[s] != NoMod || len(x.missing) == 1 && x.missing[0] != s {
					continue
				}
				for _, v := range f.Slots[s].Values {
					try(f, v.Mod)
				}
			}
		}
	}
	if !slices.ContainsFunc(words, isShape) {
		slices.Sort(words)
	}
	return words
}

// maxListed is the largest number of words in a message.
const maxListed = 12

// someOf lists alternatives for a message, at most the first few.
func someOf(words []string) string {
	if n := len(words); n > maxListed {
		words = append(slices.Clone(words[:maxListed]), "or others")
	}
	return oneOf(words)
}

// isShape reports whether a word is a matrix shape.
func isShape(word string) bool {
	return len(word) > 2 && word[1] == 'm' && word[2] >= '0' && word[2] <= '9'
}

// exchange looks for two adjacent modifiers to swap, or for one modifier to replace. It first
// tries modifiers that the instruction does not have, then all modifiers. If the instruction has
// all modifiers but a required one is missing (such as .sp with a sparse shape), exchange only
// replaces the shape.
//
// It returns possible interpretations. The first is reported unless the operands fit another
// better.
func (m *Matcher) exchange(list []*Instruction, x *mismatch, name string, mods []Mod,
	skip int) []interpretation {
	if len(x.unmatched)+len(x.missing) > 2 || len(x.unmatched) == 0 && len(x.missing) > 1 ||
		x.isRepeated(mods) || !m.allowSearch() {
		return nil
	}
	s := &swap{m: m, list: list, miss: x, name: name, mods: mods, skip: skip}
	s.lacks = len(x.unmatched) == 0 && len(x.missing) == 1
	if s.lacks && len(x.form.Slots[x.missing[0]].Values) > 1 {
		return nil
	}
	if !s.lacks {
		s.found = m.reordered(list, name, mods, skip)
	}
	order := slices.Clone(x.unmatched)
	for i := range mods {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	for _, i := range order {
		if s.replace(i) && s.lacks {
			break
		}
	}
	if !slices.ContainsFunc(s.found, func(r interpretation) bool { return !r.removes }) {
		return nil
	}
	return s.found
}

// A swap replaces one modifier of an opcode by another.
type swap struct {
	m     *Matcher
	list  []*Instruction
	miss  *mismatch
	name  string
	mods  []Mod
	skip  int
	lacks bool // a modifier is missing, and no modifier is wrong
	found []interpretation
}

// replace adds the opcodes in which modifier i is replaced, or omitted if no word replaces it. It
// reports whether it added any.
func (s *swap) replace(i int) bool {
	m, word := s.m, s.m.set.Mods[s.mods[i]]
	if s.lacks && !isShape(word) {
		return false
	}
	without := slices.Delete(slices.Clone(s.mods), i, i+1)
	words := m.replacements(s.list, s.mods, i)
	alike := slices.DeleteFunc(slices.Clone(words),
		func(w string) bool { return !isSimilar(w, word) })
	if len(alike) > 0 || s.lacks || m.isLegalCombination(s.list, without) {
		words = alike
	}
	if len(words) == 0 {
		if !s.lacks && m.isLegalCombination(s.list, without) {
			p := problem("F205", s.skip+i, "%s cannot be combined with the other modifiers here",
				word)
			s.found = append(s.found,
				interpretation{p, []string{m.text(s.name, without)}, true, false})
		}
		return false
	}
	r := interpretation{Problem: s.problem(i, word, words)}
	for _, w := range words[:min(len(words), maxListed)] {
		changed := slices.Clone(s.mods)
		changed[i], _ = m.set.mod(w)
		r.ops = append(r.ops, m.text(s.name, changed))
	}
	near := closestType(word, words) != ""
	_, typed := ParseType(word)
	r.changesClass = typed && !near
	if near && len(s.found) > 0 && !s.found[0].removes && s.found[0].Rule == "F205" {
		s.found = slices.Insert(s.found, 0, r)
	} else {
		s.found = append(s.found, r)
	}
	return true
}

// problem describes the replacement of a modifier by one of words.
func (s *swap) problem(i int, word string, words []string) Problem {
	p := problem("F205", s.skip+i, "%s cannot be combined with the other modifiers here, "+
		"expected %s", word, someOf(words))
	if !s.m.isUsed(s.list, s.mods[i]) {
		p.Rule, p.Message = "F203", s.name+" has no modifier "+word+"; expected "+someOf(words)
	}
	switch {
	case s.lacks:
		p.Message += ", or " + s.m.oneOf(&s.miss.form.Slots[s.miss.missing[0]]) + " besides"
	case len(words) == 1:
		p.Want = words[0]
	default:
		p.Want = closestType(word, words)
	}
	return p
}

// text joins a name and modifiers to an opcode.
func (m *Matcher) text(name string, mods []Mod) string {
	for _, mod := range mods {
		name += m.set.Mods[mod]
	}
	return name
}

// isRepeated reports whether a modifier without a slot is repeated, or excludes the modifier that
// occupies its slot.
func (x *mismatch) isRepeated(mods []Mod) bool {
	return slices.ContainsFunc(x.unmatched, func(i int) bool {
		if slices.Contains(mods[:i], mods[i]) {
			return true
		}
		for s := range x.form.Slots {
			if x.slots[s] != NoMod && x.form.Slots[s].has(mods[i]) && x.form.Slots[s].Order == 0 {
				return true
			}
		}
		return false
	})
}

// reordered looks for two adjacent modifiers to swap, and returns nil if there are none.
func (m *Matcher) reordered(list []*Instruction, name string, mods []Mod,
	skip int) []interpretation {
	changed := slices.Clone(mods)
	for i := range len(mods) - 1 {
		if mods[i] == mods[i+1] {
			continue
		}
		changed[i], changed[i+1] = mods[i+1], mods[i]
		if m.isLegalCombination(list, changed) {
			a, b := m.set.Mods[mods[i]], m.set.Mods[mods[i+1]]
			p := problem("F207", skip+i, "%s and %s are in the wrong order: %s%s", a, b, b, a)
			return []interpretation{{Problem: p, ops: []string{m.text(name, changed)}}}
		}
		changed[i], changed[i+1] = mods[i], mods[i+1]
	}
	return nil
}

// isLegalCombination reports whether the modifiers form a legal combination.
func (m *Matcher) isLegalCombination(list []*Instruction, mods []Mod) bool {
	return slices.ContainsFunc(list, func(ins *Instruction) bool {
		return slices.ContainsFunc(ins.Forms, func(f Form) bool {
			x := assignMost(&f, mods)
			return len(x.unmatched)+len(x.missing) == 0 && m.isLegal(x)
		})
	})
}

// isSimilar reports whether two words have the same form: both are shapes, or both have the same
// text before "::".
func isSimilar(a, b string) bool {
	first, _, _ := strings.Cut(a, "::")
	second, _, _ := strings.Cut(b, "::")
	return first == second || isShape(a) && isShape(b)
}

// inOtherCase returns the modifier that differs from a word only in case, or "" if there is none.
func (m *Matcher) inOtherCase(list []*Instruction, word string) string {
	for i, w := range m.set.Mods {
		if w != word && strings.EqualFold(w, word) && m.isUsed(list, Mod(i)) {
			return w
		}
	}
	return ""
}

// isUsed reports whether some form of the instructions accepts a modifier.
func (m *Matcher) isUsed(list []*Instruction, mod Mod) bool {
	return slices.ContainsFunc(list, func(ins *Instruction) bool {
		return slices.ContainsFunc(ins.Forms, func(f Form) bool { return f.has(mod) })
	})
}

// respelled looks for an opcode in which a dot is written as "::" or underscore, or vice versa,
// as in mbarrier.complete_tx and wait_group::read. It returns nil if there is none.
func (m *Matcher) respelled(op string) *Problem {
	if len(op) > maxRespelled || !m.allowSearch() {
		return nil
	}
	dots := 0
	for i := 0; i < len(op); i++ {
		var meant, wrong, right string
		at := dots - 1
		switch {
		case op[i] == '.':
			dots++
			if at < 0 {
				continue
			}
			from, to := strings.LastIndexByte(op[:i], '.'), wordEnd(op, i+1)
			meant = op[:i] + "::" + op[i+1:]
			wrong, right = op[from:to], op[from:i]+"::"+op[i+1:to]
		case strings.HasPrefix(op[i:], "::"):
			from, to := strings.LastIndexByte(op[:i], '.'), wordEnd(op, i)
			if from < 0 {
				continue
			}
			meant = op[:i] + "." + op[i+2:]
			wrong, right = op[from:to], op[from:i]+"."+op[i+2:to]
		default:
			continue
		}
		if m.hasForm(meant) {
			p := problem("F202", at, "%s is written %s", wrong, right)
			p.Want = meant
			return &p
		}
	}
	return nil
}

// wordEnd returns the end of the word that contains position i.
func wordEnd(op string, i int) int {
	if n := strings.IndexByte(op[i:], '.'); n >= 0 {
		return i + n
	}
	return len(op)
}

// needed reports the missing modifier that a rule "require .a -> .b" requires. It returns nil for
// other rules.
func (m *Matcher) needed(x *mismatch, r *Rule, name string) *Problem {
	from, to, ok := strings.Cut(strings.TrimPrefix(r.Text, "require "), " -> ")
	if !ok {
		return nil
	}
	find := func(word string) int {
		return slices.IndexFunc(x.form.Slots, func(s Slot) bool { return s.Name == word })
	}
	a, b := find(from), find(to)
	if a < 0 || b < 0 || x.slots[a] == NoMod || x.slots[b] != NoMod {
		return nil
	}
	p := problem("F204", -1, "%s is missing %s, which %s takes", name, m.oneOf(&x.form.Slots[b]),
		m.set.Mods[x.slots[a]])
	return &p
}
