// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// Is reports whether f and g are the same form. A form that was decoded more than once has
// several addresses, so pointers cannot be compared.
func (f *Form) Is(g *Form) bool { return f == g || f.at != 0 && f.at == g.at }

// Allows reports whether the rules and tables of f allow the modifiers in slots together, in some
// version and for some target.
func (f *Form) Allows(slots []Mod) bool {
	for i := range f.Slots {
		if f.Slots[i].Required && slots[i] == NoMod {
			return false
		}
	}
	for i := range f.Rules {
		if r := &f.Rules[i]; !r.Holds.Operands() && !r.Holds.holds(slots, nil) {
			return false
		}
	}
	for i := range f.Tables {
		fits := false
		for j := range f.Tables[i].Rows {
			fits = fits || f.Tables[i].Rows[j].fits(&f.Tables[i], slots)
		}
		if !fits {
			return false
		}
	}
	return true
}

// Bounds returns the gates for the modifiers in slots. An instruction is legal if all gates in
// open are open and no gate in gone is open. A table contributes one gate, which is open if at
// least one matching row is.
func (f *Form) Bounds(slots []Mod) (open, gone []Gate) {
	open = append(open, f.Gates...)
	gone = append(gone, f.Gone...)
	for i, mod := range slots {
		if mod == NoMod {
			continue
		}
		if g := f.Slots[i].value(mod).Gate; len(g.Clauses) > 0 {
			open = append(open, g)
		}
	}
	for _, w := range f.When {
		switch {
		case w.If.Operands() || !w.If.holds(slots, nil):
		case w.Gone:
			gone = append(gone, w.Gate)
		default:
			open = append(open, w.Gate)
		}
	}
	for i := range f.Tables {
		t := &f.Tables[i]
		var any Gate
		free := false
		for j := range t.Rows {
			if r := &t.Rows[j]; r.fits(t, slots) {
				free = free || len(r.Gate.Clauses) == 0
				any.Clauses = append(any.Clauses, r.Gate.Clauses...)
			}
		}
		if !free && len(any.Clauses) > 0 {
			open = append(open, any)
		}
	}
	return open, gone
}

// Opcode returns the opcode of an instruction with the modifiers in slots, in canonical order.
func (s *Set) Opcode(ins *Instruction, slots []Mod) string {
	op := ins.Name
	for _, m := range slots {
		op += s.Mods[m]
	}
	return op
}

// Fits reports whether a register of type have can be used where type want is required. relaxed
// must be set if the instruction accepts wider registers.
func Fits(want, have Type, relaxed bool) bool {
	if relaxed {
		return relaxFits(want, have)
	}
	return typeFits(want, have)
}

// Bounds returns the gates for an instruction of form c with the operands in args: the gates of
// the form and of its operands. See Form.Bounds.
func (c *Candidate) Bounds(args []Arg) (open, gone []Gate) {
	open, gone = c.Form.Bounds(c.Slots)
	var t tally
	if !c.OperandBounds() {
		return open, gone
	}
	if alone := besideSink(args); !c.fitsSequence(c.Args, args, &t, nil) &&
		(alone == nil || !c.fitsSequence(c.Args, alone, &t, nil)) {
		return open, gone
	}
	for i := range c.when {
		switch w := &c.when[i]; {
		case !w.If.holds(c.Slots, &t):
		case w.Gone:
			gone = append(gone, w.Gate)
		default:
			open = append(open, w.Gate)
		}
	}
	return open, gone
}

// Since returns the first version in which target t supports the modifiers of c. It ignores the
// operands.
func (c *Candidate) Since(t Target) Version {
	if t == c.target {
		return c.since
	}
	return c.Form.since(c.Slots, t)
}

// since returns the first version in which target t supports the modifiers in slots.
func (f *Form) since(slots []Mod, t Target) (first Version) {
	open, _ := f.Bounds(slots)
	for _, g := range open {
		first = max(first, g.Since(t))
	}
	return first
}

// OperandBounds reports whether gates of c depend on operands.
func (c *Candidate) OperandBounds() bool { return len(c.when) > 0 }
