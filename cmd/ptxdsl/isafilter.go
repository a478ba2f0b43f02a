// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A filter selects the forms, rows and values that a PTX version and a target support.
type filter struct {
	wanted  bool
	version isa.Version
	target  *isa.Target // nil for any target
}

func (f *filter) isOpen(g isa.Gate) bool {
	if f.target != nil {
		return g.Open(f.version, *f.target)
	}
	return len(g.Clauses) == 0 ||
		slices.ContainsFunc(g.Clauses, func(c isa.Clause) bool { return f.version >= c.Since })
}

// apply returns the instructions without unsupported forms, table rows and modifier values.
func (f *filter) apply(list []isa.Instruction) []isa.Instruction {
	var out []isa.Instruction
	for _, ins := range list {
		var forms []isa.Form
		for _, form := range ins.Forms {
			if f.form(&form) {
				forms = append(forms, form)
			}
		}
		if ins.Forms = forms; len(forms) > 0 {
			out = append(out, ins)
		}
	}
	return out
}

// words removes unsupported special registers and directives.
func (f *filter) words(s *selection) {
	s.specials = slices.DeleteFunc(s.specials, func(r isa.Special) bool {
		return !f.isOpen(r.Gate)
	})
	s.directives = slices.DeleteFunc(s.directives, func(d isa.DirectiveInfo) bool {
		return !f.isOpen(d.Gate) || f.target != nil && len(d.Gone.Clauses) > 0 && f.isOpen(d.Gone)
	})
}

func (f *filter) form(form *isa.Form) bool {
	for _, g := range form.Gates {
		if !f.isOpen(g) {
			return false
		}
	}
	for _, g := range form.Gone {
		if f.target != nil && len(g.Clauses) > 0 && f.isOpen(g) {
			return false
		}
	}
	for i := range form.Tables {
		if !slices.ContainsFunc(form.Tables[i].Rows,
			func(r isa.Row) bool { return f.isOpen(r.Gate) }) {
			return false
		}
	}
	form.Tables = slices.Clone(form.Tables)
	for i := range form.Tables {
		t := &form.Tables[i]
		t.Rows = slices.DeleteFunc(slices.Clone(t.Rows),
			func(r isa.Row) bool { return !f.isOpen(r.Gate) })
	}
	// A condition that is satisfied is omitted; otherwise the missing requirement is kept.
	form.When = slices.DeleteFunc(slices.Clone(form.When), func(w isa.Condition) bool {
		return (f.target != nil || !w.Gone) && f.isOpen(w.Gate) != w.Gone
	})
	form.Slots = slices.Clone(form.Slots)
	for i := range form.Slots {
		s := &form.Slots[i]
		s.Values = slices.DeleteFunc(slices.Clone(s.Values), func(v isa.Value) bool {
			return !f.isOpen(v.Gate)
		})
		if s.Required && len(s.Values) == 0 {
			return false
		}
	}
	return true
}
