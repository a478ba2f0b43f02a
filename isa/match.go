// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"slices"
	"strings"
)

// A Matcher judges instructions for one PTX version and target. It remembers opcodes, so it is
// cheap on files, and it is not safe for concurrent use.
type Matcher struct {
	set     *Set
	version Version
	target  Target
	memo    map[string]*opcode
}

// NewMatcher is a Matcher over the standard instruction set.
func NewMatcher(v Version, t Target) *Matcher { return Standard().Matcher(v, t) }

// Matcher is a Matcher over s.
func (s *Set) Matcher(v Version, t Target) *Matcher {
	s.build()
	return &Matcher{set: s, version: v, target: t, memo: make(map[string]*opcode)}
}

// An opcode is what an opcode's text means at the matcher's version and target.
type opcode struct {
	fits     []Candidate // forms whose modifiers fit
	problems []Problem   // why there is none
}

// A Candidate is a form with its slots filled and its operands worked out.
type Candidate struct {
	Form  *Form
	Slots []Mod // what each slot of the form holds
	Args  []Want
	rules []Rule      // those that speak of operands
	when  []Condition // likewise
}

// A Want is an operand with types, lengths and presence settled by the modifiers.
type Want struct {
	*Operand
	Presence Presence // Never for one that the modifiers rule out
	Kinds    []WantKind
	Inside   []Want
	Pair     *Want
}

// Never is the presence of an operand that the modifiers rule out.
const Never = PresentWhen + 1

// A WantKind is a Kind with nothing left open.
type WantKind struct {
	*Kind
	Settled Type
	Len     int // of a brace vector; -1 for a single thing
	In      Space
	Fields  []Want
}

// Check judges one instruction: its opcode with all modifiers, and its operands. It returns nil
// when the instruction is legal.
func (m *Matcher) Check(op string, args []Arg) []Problem {
	_, problems := m.Match(op, args)
	return problems
}

// Match judges one instruction and tells the form it has, settled for its modifiers; nil where it has
// none. A Candidate is shared by all instructions of one opcode: leave it as it is.
func (m *Matcher) Match(op string, args []Arg) (*Candidate, []Problem) {
	o := m.opcode(op)
	if len(o.fits) == 0 {
		return nil, o.problems
	}
	for i := range o.fits {
		if o.fits[i].takes(m, args) {
			return &o.fits[i], o.problems // warnings, at most
		}
	}
	return nil, m.explainArgs(o, op, args)
}

// Candidates are the forms that fit the modifiers of op, and why there are none.
func (m *Matcher) Candidates(op string) ([]Candidate, []Problem) {
	o := m.opcode(op)
	return o.fits, o.problems
}

func (m *Matcher) opcode(op string) *opcode {
	if o := m.memo[op]; o != nil {
		return o
	}
	o := m.resolve(op)
	m.memo[strings.Clone(op)] = o
	return o
}

// words splits the modifiers of rest, which begins with a dot or is empty.
func words(rest string) []string {
	if rest == "" {
		return nil
	}
	return strings.Split(rest[1:], ".")
}

func (m *Matcher) resolve(op string) *opcode {
	list, name, rest := m.set.split(op)
	if list == nil {
		return &opcode{problems: []Problem{m.unknownName(op)}}
	}
	var mods []Mod
	var unknown []Problem
	skip := strings.Count(name, ".")
	for i, w := range words(rest) {
		id, ok := m.set.mods["."+w]
		if !ok {
			unknown = append(unknown, m.unknownMod(list, "."+w, skip+i))
		}
		mods = append(mods, id)
	}
	if unknown != nil {
		return &opcode{problems: unknown}
	}
	o := &opcode{}
	var closed []Problem
	ignored := m.set.ignored(list, mods)
	for _, ins := range list {
		for i := range ins.Forms {
			f := &ins.Forms[i]
			a := assignment{form: f, repeats: ins.Repeats, ignored: ignored, mods: mods, slots: make([]Mod, len(f.Slots))}
			a.done = func() bool {
				cands, gate := m.settle(name, f, a.slots)
				o.fits = append(o.fits, cands...)
				if cands == nil && gate != nil {
					closed = append(closed, *gate)
				}
				return cands != nil
			}
			a.place(0)
			if a.spare != NoMod && len(o.fits) > 0 && o.problems == nil {
				o.problems = []Problem{spareMod(m.set, a.spare, mods, skip)}
			}
		}
	}
	switch {
	case len(o.fits) > 0:
	case closed != nil:
		o.problems = []Problem{easiest(closed)}
	default:
		o.problems = m.explainMods(list, name, mods, skip)
	}
	return o
}

// ignored are those of mods that the assembler skips on the instructions of list: words it skips
// everywhere, unless they mean something in one of the forms.
func (s *Set) ignored(list []*Instruction, mods []Mod) []Mod {
	var skipped []Mod
	for _, mod := range mods {
		if slices.Contains(s.Ignored, mod) && !slices.ContainsFunc(list, func(ins *Instruction) bool { return ins.has(mod) }) {
			skipped = append(skipped, mod)
		}
	}
	return skipped
}

// has reports whether mod means something in a form of ins.
func (ins *Instruction) has(mod Mod) bool {
	for i := range ins.Forms {
		f := &ins.Forms[i]
		if slices.ContainsFunc(f.Slots, func(s Slot) bool { return s.has(mod) }) {
			return true
		}
	}
	return false
}

// An assignment tries to put every written modifier into a slot of a form.
type assignment struct {
	form    *Form
	repeats []Mod
	ignored []Mod
	mods    []Mod
	slots   []Mod
	spare   Mod         // a modifier the assembler takes and does not heed
	done    func() bool // called with every slot settled; true ends the search
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
	if slices.Contains(a.repeats, mod) && slices.Contains(a.slots, mod) || slices.Contains(a.form.Ignored, mod) || slices.Contains(a.ignored, mod) {
		if a.place(i + 1) {
			a.spare = mod
			return true
		}
	}
	return false
}

// passed reports whether a slot after j that must keep its place with j is filled already.
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

// settle turns a filled form into candidates, one for each choice of table rows. It returns no
// Candidate when a rule or table forbids the combination; the problem is a gate that was closed.
func (m *Matcher) settle(name string, f *Form, slots []Mod) ([]Candidate, *Problem) {
	var late []Rule
	for _, r := range f.Rules {
		if r.Holds.Operands() {
			late = append(late, r)
		} else if !r.Holds.holds(slots, nil) {
			return nil, nil
		}
	}
	lengths, gate, ok := m.rows(name, f, slots)
	if !ok {
		return nil, nil
	}
	if gate == nil {
		gate = m.gates(name, f, slots)
	}
	if gate != nil {
		return nil, gate
	}
	var when []Condition
	for _, w := range f.When {
		if w.If.Operands() {
			when = append(when, w)
		}
	}
	kept := slices.Clone(slots)
	var out []Candidate
	for _, l := range lengths {
		c := Candidate{Form: f, Slots: kept, rules: late, when: when}
		c.Args = c.wants(m.set, f.Operands, l)
		out = append(out, c)
	}
	return out, nil
}

// rows finds the rows of each table that fit. A result per choice of rows holds their lengths.
func (m *Matcher) rows(name string, f *Form, slots []Mod) (lengths [][][]int, gate *Problem, ok bool) {
	lengths = [][][]int{nil}
	for i := range f.Tables {
		t := &f.Tables[i]
		var fit [][]int
		var shut *Gate
		for j := range t.Rows {
			r := &t.Rows[j]
			if !r.fits(t, slots) {
				continue
			}
			if !r.Gate.Open(m.version, m.target) {
				shut = &r.Gate
				continue
			}
			if !slices.ContainsFunc(fit, func(l []int) bool { return slices.Equal(l, r.Lengths) }) {
				fit = append(fit, r.Lengths)
			}
		}
		if fit == nil {
			if shut == nil {
				return nil, nil, false
			}
			p := m.closed(name, "this combination of modifiers", *shut)
			return nil, &p, true
		}
		var next [][][]int
		for _, l := range lengths {
			for _, row := range fit {
				next = append(next, append(slices.Clone(l), row))
			}
		}
		lengths = next
	}
	return lengths, nil, true
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

// gates checks every gate of a filled form.
func (m *Matcher) gates(name string, f *Form, slots []Mod) *Problem {
	for _, g := range f.Gates {
		if !g.Open(m.version, m.target) {
			p := m.closed(name, "", g)
			return &p
		}
	}
	for _, g := range f.Gone {
		if g.Open(m.version, m.target) {
			p := m.gone(name, "", g)
			return &p
		}
	}
	for i, mod := range slots {
		if mod == NoMod {
			continue
		}
		if g := f.Slots[i].value(mod).Gate; !g.Open(m.version, m.target) {
			p := m.closed(name, m.set.Mods[mod], g)
			return &p
		}
	}
	for _, w := range f.When {
		if w.If.Operands() || !w.If.holds(slots, nil) || w.Gate.Open(m.version, m.target) != w.Gone {
			continue
		}
		p := m.closed(name, "this combination of modifiers", w.Gate)
		if w.Gone {
			p = m.gone(name, "this combination of modifiers", w.Gate)
		}
		return &p
	}
	return nil
}
