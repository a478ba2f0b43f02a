// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// Limits of the explanations for an opcode without a form. They exceed what people write, and bound
// the work by the length of the opcode.
const (
	mostExplained = 64  // number of modifiers that are explained; more than any instruction has
	mostUnknown   = 16  // number of modifiers that are reported as unknown
	mostRespelled = 400 // maximum length of an opcode for which other spellings are tried
)

// resolve finds the forms that the modifiers of op fit at the matcher's version and target.
func (m *Matcher) resolve(op string) *Opcode {
	o := slab.One(&m.found)
	found, name, rest := m.set.split(op)
	if found == nil {
		if m.asking {
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

// readMods returns the modifiers of an opcode. If some are unknown, it returns false, and reports
// them in o unless the matcher only asks.
func (m *Matcher) readMods(o *Opcode, found []uint16, rest string,
	skip int) (mods []Mod, known bool) {
	mods = m.mods[:0]
	for word := range words(rest) {
		if len(o.problems) == mostUnknown {
			break // enough modifiers have been reported
		}
		mod, ok := m.set.mod(word)
		if !ok && m.asking {
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

// fit adds the forms that modifiers fit to o, or the reasons why they fit none.
func (m *Matcher) fit(o *Opcode, op string, found []uint16, name string, mods []Mod, skip int) {
	var shut []shutGate
	canonical := ""
	spared := false
	a := assignment{ignored: m.set.ignored(found, mods), mods: mods}
	a.done = func() bool {
		before := len(o.fits)
		gate, allowed := m.settle(o, m.set.form(a.form), a.slots)
		if gate != nil {
			shut = append(shut, *gate)
		}
		if allowed && canonical == "" && a.whole() {
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
					o.problems = []Problem{spareMod(m.set, a.spare, mods, skip)}
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
	case m.asking:
	case shut != nil:
		mods = mods[:min(len(mods), mostExplained)]
		o.problems = []Problem{m.easiest(m.set.instructions(found), name, mods, skip, shut)}
	default:
		mods = mods[:min(len(mods), mostExplained)]
		m.readings = nil
		o.problems = m.explainMods(m.set.instructions(found), name, mods, skip)
		o.readings = m.readings
	}
}

// ignored returns the modifiers that ptxas ignores on these instructions: words that it ignores
// everywhere, unless they have a meaning in one of the forms.
func (s *Set) ignored(found []uint16, mods []Mod) []Mod {
	var skipped []Mod
	for _, mod := range mods {
		if slices.Contains(s.Ignored, mod) && !slices.Contains(skipped, mod) &&
			!slices.ContainsFunc(found, func(e uint16) bool {
				return slices.ContainsFunc(s.outline(int(e)).forms,
					func(f worded) bool { return f.has(mod) })
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

// An assignment tries to assign every written modifier to a slot of a form.
type assignment struct {
	form    *worded
	repeats []Mod
	ignored []Mod
	mods    []Mod
	slots   []Mod
	spare   Mod         // a modifier that ptxas accepts and ignores
	done    func() bool // called when every slot is assigned; true ends the search
}

// begin starts the search for another form.
func (a *assignment) begin(f *worded) {
	a.form, a.spare = f, NoMod
	a.slots = slices.Grow(a.slots[:0], len(f.Slots))[:len(f.Slots)]
	clear(a.slots)
}

// whole reports whether every modifier of the instruction has been assigned to a slot.
func (a *assignment) whole() bool {
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
		if a.slots[j] != NoMod || !s.has(mod) || a.passed(j) {
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

// passed reports whether a slot after j is already filled although its modifier must follow j's.
func (a *assignment) passed(j int) bool {
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

// settle adds the candidates of a filled form to o, one for each choice of table rows. It adds none
// if a rule or table forbids the combination, or if a gate is closed; in the latter case it returns
// that gate, because the combination is legal for other versions or targets.
func (m *Matcher) settle(o *Opcode, f *Form, slots []Mod) (shut *shutGate, allowed bool) {
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
		shut = m.gates(f, slots)
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
				o.valued = o.valued || r.Holds.compares()
			}
		}
	}
	for i := range f.When {
		if w := &f.When[i]; w.If.Operands() {
			c.when = append(c.when, *w)
			o.valued = o.valued || w.If.compares()
		}
	}
	for _, l := range lengths {
		s := operandResolver{m: m, o: o, c: &c, lengths: l}
		c.Args = s.wants(f.Operands)
		o.fits = append(o.fits, c)
	}
	return nil, true
}

// unmeasured is the single choice of rows for a form without tables.
var unmeasured = [][][]int{nil}

// rows finds the matching rows of each table, and the vector lengths for each choice of rows.
func (m *Matcher) rows(f *Form, slots []Mod) (lengths [][][]int, shut *shutGate, ok bool) {
	lengths = unmeasured
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
			return nil, &shutGate{what: m.lateRule(t, slots), gate: *closed}, true
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

// lateRule returns the last word that no open row of a table has; the gate belongs to that word. If
// every word has an open row, it returns "": the gate belongs to the combination.
func (m *Matcher) lateRule(t *Table, slots []Mod) string {
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

// A shutGate excludes a form at the matcher's version or target.
type shutGate struct {
	what string // the feature that needs the gate; "" for the instruction itself
	gate Gate
	gone bool // the gate is open, and removes the feature
}

const combined = "this combination of modifiers"

// gates returns the first closed gate of a form with these modifiers, or nil if all are open.
func (m *Matcher) gates(f *Form, slots []Mod) *shutGate {
	for _, g := range f.Gates {
		if !g.Open(m.version, m.target) {
			return &shutGate{gate: g}
		}
	}
	for _, g := range f.Gone {
		if g.Open(m.version, m.target) {
			return &shutGate{gate: g, gone: true}
		}
	}
	for i, mod := range slots {
		if mod == NoMod {
			continue
		}
		if g := f.Slots[i].value(mod).Gate; !g.Open(m.version, m.target) {
			return &shutGate{what: m.set.Mods[mod], gate: g}
		}
	}
	for i := range f.When {
		if w := &f.When[i]; !w.If.Operands() && w.If.holds(slots, nil) &&
			w.Gate.Open(m.version, m.target) == w.Gone {
			return &shutGate{what: combined, gate: w.Gate, gone: w.Gone}
		}
	}
	return nil
}

// easiest returns the gate that is easiest to satisfy: one that needs another version rather than
// another target.
func (m *Matcher) easiest(list []*Instruction, name string, mods []Mod, skip int,
	shut []shutGate) Problem {
	best := &shut[0]
	for i := range shut {
		if s := &shut[i]; !s.gone && s.gate.reaches(m.target) {
			best = s
			break
		}
	}
	if best.gone {
		return m.gone(name, best.what, best.gate, m.additions(list, name, mods))
	}
	what, at := best.what, -1
	partly := what != "" || m.partlyMatches(list)
	for i, mod := range mods {
		switch {
		case !partly:
		case !m.opens(list, mod):
			what, at = m.set.Mods[mod], skip+i
		case what == m.set.Mods[mod]:
			at = skip + i
		}
	}
	if what == "" && partly {
		what = combined
	}
	p := m.closed(name, what, best.gate)
	p.Mod = at
	return p
}

// partlyMatches reports whether some form of the instructions has all required gates open.
func (m *Matcher) partlyMatches(list []*Instruction) bool { return m.opens(list, NoMod) }

// opens reports whether some form with a modifier, or any form for NoMod, has all required gates
// open.
func (m *Matcher) opens(list []*Instruction, mod Mod) bool {
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
