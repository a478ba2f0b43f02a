// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// Limits of the explanations for an opcode without a form. They exceed what people write, and
// bound the work for an arbitrarily long opcode.
const (
	maxExplained = 64  // number of modifiers for which a legal combination is searched
	maxUnknown   = 16  // number of modifiers that are reported as unknown
	maxRespelled = 400 // length of an opcode for which other spellings are tried
)

// resolve finds the forms that fit the modifiers of op, for the version and target of m.
func (m *Matcher) resolve(op string) *Opcode {
	o := slab.One(&m.found)
	found, name, rest := m.set.split(op)
	if found == nil {
		if m.formOnly {
			return o
		}
		if p := m.respelled(op); p != nil {
			o.problems = []Problem{*p}
			return o
		}
		o.problems = []Problem{m.unknownName(op)}
		return o
	}
	skip := strings.Count(name, ".")
	mods, known := m.readMods(o, found, rest, skip)
	switch {
	case known:
		m.fit(o, op, found, name, mods, skip)
	case o.problems != nil:
		if p := m.respelled(op); p != nil {
			o.problems = []Problem{*p}
		}
	}
	return o
}

// readMods looks up the modifiers of an opcode. If some are unknown, known is false, and the
// unknown modifiers are reported in o unless m.asking is set.
func (m *Matcher) readMods(o *Opcode, found []uint16, rest string,
	skip int) (mods []Mod, known bool) {
	mods = m.mods[:0]
	for word := range words(rest) {
		if len(o.problems) == maxUnknown {
			break // enough modifiers have been reported
		}
		mod, ok := m.set.mod(word)
		if !ok && m.formOnly {
			return nil, false
		}
		if !ok {
			o.problems = append(o.problems,
				m.unknownMod(m.set.instructions(found), word, skip+len(mods)))
		}
		mods = append(mods, mod)
	}
	m.mods = mods
	return mods, o.problems == nil
}

// fit adds to o the forms that fit the modifiers, or the reasons why no form fits.
func (m *Matcher) fit(o *Opcode, op string, found []uint16, name string, mods []Mod, skip int) {
	var shut []closedFeature
	canonical := ""
	spared := false
	a := assignment{ignored: m.set.ignored(found, mods), mods: mods}
	a.done = func() bool {
		before := len(o.fits)
		gate, allowed := m.addCandidates(o, m.set.form(a.form), a.slots)
		if gate != nil {
			shut = append(shut, *gate)
		}
		if allowed && canonical == "" && a.isComplete() {
			canonical = m.set.spell(op, name, a.slots)
		}
		return len(o.fits) > before
	}
	for _, e := range found {
		ins := m.set.outline(int(e))
		a.repeats = ins.repeats
		for i := range ins.forms {
			a.begin(&ins.forms[i])
			a.place(0)
			if a.spare != NoMod {
				spared = true
				if len(o.fits) > 0 && o.problems == nil {
					o.problems = []Problem{ignoredMod(m.set, a.spare, mods, skip)}
				}
			}
		}
	}
	switch {
	case len(o.fits) > 0:
		if canonical == "" || spared {
			canonical, _ = m.set.Canonical(op)
		}
		for i := range o.fits {
			o.fits[i].Opcode = canonical
		}
	case m.formOnly:
	case shut != nil:
		mods = mods[:min(len(mods), maxExplained)]
		o.problems = []Problem{m.reportEasiest(m.set.instructions(found), name, mods, skip, shut)}
	default:
		mods = mods[:min(len(mods), maxExplained)]
		m.interpretations = nil
		o.problems = m.explainMods(m.set.instructions(found), name, mods, skip)
		o.interpretations = m.interpretations
	}
}

// ignored returns the modifiers that ptxas ignores on these instructions: words that it ignores
// everywhere and that have no meaning in any of the forms.
func (s *Set) ignored(found []uint16, mods []Mod) []Mod {
	var skipped []Mod
	for _, mod := range mods {
		if slices.Contains(s.Ignored, mod) && !slices.Contains(skipped, mod) &&
			!slices.ContainsFunc(found, func(e uint16) bool {
				return slices.ContainsFunc(s.outline(int(e)).forms,
					func(f formOutline) bool { return f.has(mod) })
			}) {
			skipped = append(skipped, mod)
		}
	}
	return skipped
}

// has reports whether mod has a meaning in a form.
func (w *Wording) has(mod Mod) bool {
	return slices.ContainsFunc(w.Slots, func(s Slot) bool { return s.has(mod) })
}

// An assignment assigns every written modifier to a slot of a form, in all possible ways.
type assignment struct {
	form    *formOutline
	repeats []Mod
	ignored []Mod
	mods    []Mod
	slots   []Mod
	spare   Mod         // a modifier that ptxas accepts and ignores
	done    func() bool // called when every modifier is assigned; true ends the search
}

// begin starts the search for form f.
func (a *assignment) begin(f *formOutline) {
	a.form, a.spare = f, NoMod
	a.slots = slices.Grow(a.slots[:0], len(f.Slots))[:len(f.Slots)]
	clear(a.slots)
}

// isComplete reports whether every modifier of the instruction has been assigned to a slot.
func (a *assignment) isComplete() bool {
	n := 0
	for _, mod := range a.slots {
		if mod != NoMod {
			n++
		}
	}
	return n == len(a.mods)
}

func (a *assignment) place(i int) bool {
	if i == len(a.mods) {
		for j := range a.form.Slots {
			if a.form.Slots[j].Required && a.slots[j] == NoMod {
				return false
			}
		}
		return a.done()
	}
	mod := a.mods[i]
	for j := range a.form.Slots {
		s := &a.form.Slots[j]
		if a.slots[j] != NoMod || !s.has(mod) || a.isPassed(j) {
			continue
		}
		a.slots[j] = mod
		if a.place(i + 1) {
			return true
		}
		a.slots[j] = NoMod
	}
	if slices.Contains(a.repeats, mod) && slices.Contains(a.slots, mod) ||
		slices.Contains(a.form.Ignored, mod) || slices.Contains(a.ignored, mod) {
		if a.place(i + 1) {
			a.spare = mod
			return true
		}
	}
	return false
}

// isPassed reports whether a slot after slot j is already filled although its modifier must follow
// that of slot j.
func (a *assignment) isPassed(j int) bool {
	order := a.form.Slots[j].Order
	if order == 0 {
		return false
	}
	for k := j + 1; k < len(a.slots); k++ {
		if a.form.Slots[k].Order == order && a.slots[k] != NoMod {
			return true
		}
	}
	return false
}

func (s *Slot) has(m Mod) bool { return s.value(m) != nil }

func (s *Slot) value(m Mod) *Value {
	for i := range s.Values {
		if s.Values[i].Mod == m {
			return &s.Values[i]
		}
	}
	return nil
}

// addCandidates adds a candidate of a filled form to o for each choice of table rows. It adds none
// if a rule or table forbids the combination, or if a gate is closed. In the latter case it returns
// the gate, because the combination is legal for other versions or targets.
func (m *Matcher) addCandidates(o *Opcode, f *Form,
	slots []Mod) (shut *closedFeature, allowed bool) {
	late := 0
	for i := range f.Rules {
		if r := &f.Rules[i]; r.Holds.Operands() {
			late++
		} else if !r.Holds.holds(slots, nil) {
			return nil, false
		}
	}
	lengths, shut, ok := m.rows(f, slots)
	if !ok {
		return nil, false
	}
	if shut == nil {
		shut = m.closedGateOf(f, slots)
	}
	if shut != nil {
		return shut, true
	}
	c := Candidate{Form: f, Slots: slab.Copy(&m.slots, slots), target: m.target,
		since: f.since(slots, m.target)}
	if late > 0 {
		c.rules = make([]Rule, 0, late)
		for i := range f.Rules {
			if r := &f.Rules[i]; r.Holds.Operands() {
				c.rules = append(c.rules, *r)
				o.valued = o.valued || r.Holds.dependsOnValues()
			}
		}
	}
	for i := range f.When {
		if w := &f.When[i]; w.If.Operands() {
			c.when = append(c.when, *w)
			o.valued = o.valued || w.If.dependsOnValues()
		}
	}
	for _, l := range lengths {
		s := operandResolver{m: m, o: o, c: &c, lengths: l}
		c.Args = s.wants(f.Operands)
		o.fits = append(o.fits, c)
	}
	return nil, true
}

// noTables is the only choice of rows for a form without tables.
var noTables = [][][]int{nil}

// rows returns the vector lengths of each table for every choice of matching rows. It returns the
// gate in shut if all matching rows of a table are closed. ok is false if a table has no matching
// open row.
func (m *Matcher) rows(f *Form, slots []Mod) (lengths [][][]int, shut *closedFeature, ok bool) {
	lengths = noTables
	for i := range f.Tables {
		t := &f.Tables[i]
		var fit [][]int
		var closed *Gate
		for j := range t.Rows {
			r := &t.Rows[j]
			if !r.fits(t, slots) {
				continue
			}
			if !r.Gate.Open(m.version, m.target) {
				closed = &r.Gate
				continue
			}
			if !slices.ContainsFunc(fit, func(l []int) bool { return slices.Equal(l, r.Lengths) }) {
				fit = append(fit, r.Lengths)
			}
		}
		if fit == nil {
			if closed == nil {
				return nil, nil, false
			}
			return nil, &closedFeature{what: m.gatedFeature(t, slots), gate: *closed}, true
		}
		next := make([][][]int, 0, len(lengths)*len(fit))
		for _, l := range lengths {
			for _, row := range fit {
				next = append(next, append(slices.Clip(l), row))
			}
		}
		lengths = next
	}
	return lengths, nil, true
}

// gatedFeature returns the last word that no open row of a table has, because the gate then belongs
// to that word. If every word has an open row, it returns a text for the combination of words.
func (m *Matcher) gatedFeature(t *Table, slots []Mod) string {
	what := combined
	for n, c := range t.Columns {
		if c.Slot < 0 || slots[c.Slot] == NoMod {
			continue
		}
		word := slots[c.Slot]
		open := slices.ContainsFunc(t.Rows, func(r Row) bool {
			return (r.Cells[n] == nil || slices.Contains(r.Cells[n], word)) &&
				r.Gate.Open(m.version, m.target)
		})
		if !open {
			what = m.set.Mods[word]
		}
	}
	return what
}

func (r *Row) fits(t *Table, slots []Mod) bool {
	for i, cell := range r.Cells {
		if cell == nil {
			continue
		}
		c := t.Columns[i]
		have := NoMod
		if c.Slot >= 0 {
			have = slots[c.Slot]
		} else if slices.Contains(slots, c.Mod) {
			have = c.Mod
		}
		if !slices.Contains(cell, have) {
			return false
		}
	}
	return true
}

// A closedFeature excludes a form for the version or target of the matcher.
type closedFeature struct {
	what string // the feature that requires the gate; "" for the instruction itself
	gate Gate
	gone bool // the gate is open, and so removes the feature
}

const combined = "this combination of modifiers"

// closedGateOf returns the first gate of a form that excludes these modifiers, or nil.
func (m *Matcher) closedGateOf(f *Form, slots []Mod) *closedFeature {
	for _, g := range f.Gates {
		if !g.Open(m.version, m.target) {
			return &closedFeature{gate: g}
		}
	}
	for _, g := range f.Gone {
		if g.Open(m.version, m.target) {
			return &closedFeature{gate: g, gone: true}
		}
	}
	for i, mod := range slots {
		if mod == NoMod {
			continue
		}
		if g := f.Slots[i].value(mod).Gate; !g.Open(m.version, m.target) {
			return &closedFeature{what: m.set.Mods[mod], gate: g}
		}
	}
	for i := range f.When {
		if w := &f.When[i]; !w.If.Operands() && w.If.holds(slots, nil) &&
			w.Gate.Open(m.version, m.target) == w.Gone {
			return &closedFeature{what: combined, gate: w.Gate, gone: w.Gone}
		}
	}
	return nil
}

// reportEasiest reports the gate that is easiest to satisfy: one that requires another version
// rather than another target.
func (m *Matcher) reportEasiest(list []*Instruction, name string, mods []Mod, skip int,
	shut []closedFeature) Problem {
	best := &shut[0]
	for i := range shut {
		if s := &shut[i]; !s.gone && s.gate.opensFor(m.target) {
			best = s
			break
		}
	}
	if best.gone {
		return m.removedFeature(name, best.what, best.gate, m.additions(list, name, mods))
	}
	what, at := best.what, -1
	partly := what != "" || m.partlyMatches(list)
	for i, mod := range mods {
		switch {
		case !partly:
		case !m.hasOpenForm(list, mod):
			what, at = m.set.Mods[mod], skip+i
		case what == m.set.Mods[mod]:
			at = skip + i
		}
	}
	if what == "" && partly {
		what = combined
	}
	p := m.closedGate(name, what, best.gate)
	p.Mod = at
	return p
}
