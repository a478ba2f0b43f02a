// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"fmt"
	"slices"
	"strings"
)

func problem(rule string, mod int, format string, args ...any) Problem {
	return Problem{Rule: rule, Mod: mod, Arg: -1, Elem: -1, Message: fmt.Sprintf(format, args...)}
}

// unknownName reports an unknown instruction, and suggests the most similar name.
func (m *Matcher) unknownName(op string) Problem {
	head, rest, _ := strings.Cut(op, ".")
	if head == "" {
		return problem("F201", -1, "%q does not start with the name of an instruction", op)
	}
	p := problem("F201", -1, "unknown instruction %s", head)
	if lower := strings.ToLower(op); lower != op && m.hasForm(lower) {
		p.Message += "; did you mean " + lower
		p.Want = lower
		return p
	}
	lower := strings.ToLower(head)
	if meant := MeantName(lower); meant != "" {
		p.Message += "; did you mean " + meant
		p.Want = meant + op[len(head):]
		return p
	}
	best, fits, cost := "", false, 3
	if len(head) < 4 {
		cost = 2 // in names this short, two changes yield a different word
	}
	for i := range m.set.entries {
		h, _, _ := strings.Cut(m.set.entries[i].name, ".")
		d := 0
		if h != lower {
			if d = distance(lower, h, cost); d > cost || d == cost && best == "" {
				continue
			}
		}
		// Of equally similar names, prefer one that accepts the modifiers.
		fit := m.hasForm(h + op[len(head):])
		if d < cost || fit && !fits || fit == fits && h < best {
			best, fits, cost = h, fit, d
		}
	}
	switch {
	case best == head:
		word, _, _ := strings.Cut(rest, ".")
		p.Message = fmt.Sprintf("unknown instruction %s.%s, expected %s", head, word,
			m.set.wordsAfter(head))
	case best != "":
		p.Message += fmt.Sprintf("; did you mean %s", best)
		p.Want = best + op[len(head):]
	}
	return p
}

// hasForm reports whether some form fits an opcode.
func (m *Matcher) hasForm(op string) bool {
	if found, _, _ := m.set.split(op); found == nil {
		return false
	}
	if o := m.memo[op]; o != nil {
		return len(o.fits) > 0
	}
	was := m.formOnly
	m.formOnly = true
	defer func() { m.formOnly = was }()
	return len(m.resolve(op).fits) > 0
}

// wordsAfter returns a list of the names that begin with head and a dot, for messages.
func (s *Set) wordsAfter(head string) string {
	var out []string
	for i := range s.entries {
		n := s.entries[i].name
		if strings.HasPrefix(n, head+".") && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return strings.Join(out, ", ")
}

// unknownMod reports an unknown modifier, and suggests the most similar modifier of the
// instruction.
func (m *Matcher) unknownMod(list []*Instruction, word string, at int) Problem {
	if word == "." {
		return problem("F202", at, "%s has a dot without a modifier after it", list[0].Name)
	}
	if with := m.set.namesWith(word); with != "" && m.set.wordsAfter(list[0].Name+word) == "" &&
		!m.set.isNamePrefix(list[0].Name+word+"_") {
		return problem("F203", at, "%s has no modifier %s, which is a modifier of %s", list[0].Name,
			word, with)
	}
	p := problem("F202", at, "%s is not a PTX modifier", word)
	if longer := m.set.wordsAfter(list[0].Name + word); longer != "" {
		p.Message = fmt.Sprintf("unknown instruction %s%s, expected %s", list[0].Name, word, longer)
		p.Rule = "F201"
		return p
	}
	cost := 6 // a changed letter costs two, a changed first letter three
	if len(word) < 5 {
		cost = 4
	}
	meant := meantType(word)
	near := func(candidate string) {
		d := 2 * distance(word, candidate, (cost+1)/2)
		switch {
		case candidate == meant && meant != "":
			d = 0
		case isAbbreviation(word, candidate),
			len(candidate) > 5 && strings.HasPrefix(word, candidate):
			d = min(d, 3)
		case candidate[1] != word[1]:
			d++
		}
		if d < cost || d == cost && p.Want != "" && differInNumbers(word, candidate) &&
			numberDistance(word, candidate) < numberDistance(word, p.Want) {
			p.Want, cost = candidate, d
		}
		if p.Want == "" && len(word) > 4 && strings.HasPrefix(candidate, word+"_") {
			p.Want = candidate
		}
	}
	for _, ins := range list {
		for i := range ins.Forms {
			for _, s := range ins.Forms[i].Slots {
				for _, v := range s.Values {
					near(m.set.Mods[v.Mod])
				}
			}
		}
	}
	for i := range m.set.entries { // also consider the words of longer names: mad.low for mad.lo
		if rest, ok := strings.CutPrefix(m.set.entries[i].name, list[0].Name+"."); ok {
			first, _, _ := strings.Cut(rest, ".")
			near("." + first)
		}
	}
	if p.Want != "" {
		p.Message += "; did you mean " + p.Want
	}
	return p
}

// isNamePrefix reports whether some instruction name begins with text.
func (s *Set) isNamePrefix(text string) bool {
	_, begun := s.named(text)
	return begun
}

// namesWith returns a list of at most three instruction names that contain a word, or "" if there
// are none.
func (s *Set) namesWith(word string) string {
	var out []string
	for i := range s.entries {
		n := s.entries[i].name
		if slices.Contains(strings.Split(n, "."), word[1:]) && !slices.Contains(out, n) {
			if out = append(out, n); len(out) == 3 {
				break
			}
		}
	}
	return strings.Join(out, ", ")
}

// ignoredMod warns about a modifier that ptxas accepts and ignores, because it is repeated or has
// no meaning in this instruction.
func ignoredMod(set *Set, mod Mod, mods []Mod, skip int) Problem {
	at, times := -1, 0
	for i, w := range mods {
		if w == mod {
			at = skip + i
			times++
		}
	}
	p := problem("F208", at, "%s has no effect here; the assembler ignores it", set.Mods[mod])
	if times > 1 {
		p = problem("F208", at, "%s is written twice; the assembler ignores one of them",
			set.Mods[mod])
	}
	p.Warning = true
	return p
}

// closedGate reports that the module's version or target does not satisfy gate g. what is the
// feature that requires the gate, or "" for the instruction itself.
func (m *Matcher) closedGate(name, what string, g Gate) Problem {
	subject := name
	if what != "" {
		subject = what + " of " + name
	}
	rule := "F402"
	if g.opensFor(m.target) {
		rule = "F401"
	}
	return problem(rule, -1, "%s requires %s, but the module is for PTX %s and %s", subject, g,
		m.version, m.target)
}

// removedFeature reports a feature that was removed in the versions and targets of gate g. If later
// is not empty, the instruction is still legal with one of these words.
func (m *Matcher) removedFeature(name, what string, g Gate, later []string) Problem {
	subject := name
	switch {
	case len(later) > 0:
		subject += " without " + oneOf(later)
	case what != "":
		subject = what + " of " + name
	}
	return problem("F403", -1, "%s was removed in %s, but the module is for PTX %s and %s", subject,
		g, m.version, m.target)
}

// A mismatch describes why the modifiers of an opcode do not fit a form.
type mismatch struct {
	form      *Form
	slots     []Mod
	unmatched []int // modifiers without a free slot
	missing   []int // required slots that are empty
	cost      int
}

// explainMods reports the mismatches of the form that has the fewest.
func (m *Matcher) explainMods(list []*Instruction, name string, mods []Mod, skip int) []Problem {
	var best *mismatch
	for _, ins := range list {
		for i := range ins.Forms {
			x := assignMost(&ins.Forms[i], mods)
			if best == nil || x.cost < best.cost {
				best = x
			}
		}
	}
	if best == nil {
		return []Problem{problem("F203", -1, "%s has no form", name)}
	}
	if len(best.unmatched) > 0 {
		if words := m.additions(list, name, mods); words != nil {
			return []Problem{problem("F204", -1, "%s is missing %s", name, oneOf(words))}
		}
	}
	if len(best.unmatched)+len(best.missing) == 0 {
		if p := m.combination(best, name); p.Rule == "F204" {
			return []Problem{p}
		}
	}
	if found := m.exchange(list, best, name, mods, skip); found != nil {
		if r := best.firstViolation(); r != nil && r.Why != "" &&
			len(best.unmatched)+len(best.missing) == 0 {
			for i := range found {
				found[i].Message += ": " + r.Why
			}
		}
		first := slices.IndexFunc(found, func(r interpretation) bool { return !r.removes })
		m.interpretations = found
		return []Problem{found[first].Problem}
	}
	var out []Problem
	for _, i := range best.unmatched {
		out = append(out, m.explainUnmatched(list, best, name, mods, i, skip))
	}
	for _, s := range best.missing {
		slot := &best.form.Slots[s]
		if len(out) > 0 {
			break
		}
		if types := m.lackingTypes(list, mods, best, slot); types != nil {
			out = append(out, problem("F204", -1, "%s is missing a type: %s", name, oneOf(types)))
			continue
		}
		if words := m.additions(list, name, mods); len(best.missing) == 1 &&
			len(words) > len(slot.Values) {
			out = append(out, problem("F204", -1, "%s is missing %s", name, someOf(words)))
			continue
		}
		out = append(out, problem("F204", -1, "%s is missing %s", name, m.oneOf(slot)))
	}
	if out != nil {
		return out
	}
	return []Problem{m.combination(best, name)}
}

// explainUnmatched explains why form x.form has no slot for modifier i.
func (m *Matcher) explainUnmatched(list []*Instruction, x *mismatch, name string, mods []Mod,
	i, skip int) Problem {
	word := m.set.Mods[mods[i]]
	if slices.Contains(mods[:i], mods[i]) {
		return problem("F206", skip+i, "%s is written twice", word)
	}
	for s := range x.form.Slots {
		slot := &x.form.Slots[s]
		if !slot.has(mods[i]) {
			continue
		}
		if x.slots[s] != NoMod && x.slots[s] != mods[i] {
			return problem("F205", skip+i, "%s and %s cannot be used together in %s",
				m.set.Mods[x.slots[s]], word, name)
		}
		return problem("F207", skip+i, "modifier %s is in the wrong position in %s, expected the "+
			"order %s", word, name, x.form.Template)
	}
	for _, ins := range list {
		for f := range ins.Forms {
			for s := range ins.Forms[f].Slots {
				if ins.Forms[f].Slots[s].has(mods[i]) {
					return problem("F205", skip+i, "%s cannot be combined with the other "+
						"modifiers here; it belongs to %s",
						word, ins.Forms[f].Template)
				}
			}
		}
	}
	if longer := m.set.wordsAfter(name + word); longer != "" {
		return problem("F201", skip+i, "unknown instruction %s%s, expected %s", name, word, longer)
	}
	p := problem("F203", skip+i, "%s has no modifier %s", name, word)
	if w := m.inOtherCase(list, word); w != "" {
		p.Message += "; did you mean " + w
		p.Want = w
		return p
	}
	if len(x.missing) == 1 {
		slot := &x.form.Slots[x.missing[0]]
		if types := m.lackingTypes(list, mods, x, slot); types != nil {
			p.Message += "; expected " + oneOf(types)
			p.Want = closestType(word, types)
			return p
		}
		p.Message += "; expected " + m.oneOf(slot)
		if len(slot.Values) == 1 {
			p.Want = m.set.Mods[slot.Values[0].Mod]
		}
	}
	return p
}

// oneOf lists the values of a slot, for messages.
func (m *Matcher) oneOf(s *Slot) string {
	const most = 12
	var out []string
	for _, v := range s.Values {
		if len(out) == most {
			out = append(out, fmt.Sprintf("or %d more", len(s.Values)-most))
			break
		}
		out = append(out, m.set.Mods[v.Mod])
	}
	return oneOf(out)
}

// combination reports the rule or table that forbids a combination of modifiers, each of which
// has a slot.
func (m *Matcher) combination(x *mismatch, name string) Problem {
	if r := x.firstViolation(); r != nil {
		why := r.Why
		if why == "" {
			if p := m.needed(x, r, name); p != nil {
				return *p
			}
			why = "rule: " + r.Text
		}
		return problem("F205", -1, "these modifiers of %s cannot be combined: %s", name, why)
	}
	for i := range x.form.Tables {
		t := &x.form.Tables[i]
		fits := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.fits(t, x.slots) })
		if fits {
			continue
		}
		var words []string
		for _, c := range t.Columns {
			if c.Slot >= 0 && x.slots[c.Slot] != NoMod {
				words = append(words, m.set.Mods[x.slots[c.Slot]])
			} else if c.Slot < 0 && slices.Contains(x.slots, c.Mod) {
				words = append(words, m.set.Mods[c.Mod])
			}
		}
		return problem("F205", -1, "%s has no form with %s; see ptxdsl isa %s", name,
			strings.Join(words, " "), name)
	}
	return problem("F205", -1, "these modifiers of %s cannot be combined, expected the form %s",
		name, x.form.Template)
}

// firstViolation returns the first rule that the modifiers of x violate, or nil.
func (x *mismatch) firstViolation() *Rule {
	for i := range x.form.Rules {
		if r := &x.form.Rules[i]; !r.Holds.Operands() && !r.Holds.holds(x.slots, nil) {
			return r
		}
	}
	return nil
}

// assignMost assigns as many modifiers as possible to the slots of a form, in order.
func assignMost(f *Form, mods []Mod) *mismatch {
	x := &mismatch{form: f, slots: make([]Mod, len(f.Slots))}
	a := assignment{form: &formOutline{Wording: f.Wording}, slots: x.slots}
next:
	for i, mod := range mods {
		for j := range f.Slots {
			if x.slots[j] == NoMod && f.Slots[j].has(mod) && !a.isPassed(j) {
				x.slots[j] = mod
				continue next
			}
		}
		x.unmatched = append(x.unmatched, i)
	}
	for j := range f.Slots {
		if f.Slots[j].Required && x.slots[j] == NoMod {
			x.missing = append(x.missing, j)
		}
	}
	x.cost = 2*len(x.unmatched) + 2*len(x.missing)
	if x.cost == 0 {
		x.cost = 1
	}
	return x
}
