// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A builder converts the declaration of one form in the spec to an isa.Form.
type builder struct {
	r     *resolver
	pos   lexer.Position
	c     clauses
	form  isa.Form
	names []string // names of operands, by ID
	next  int      // ID of the next operand
	table map[string]isa.Count
	text  strings.Builder // the template as text
}

func (r *resolver) build(f *formState) (isa.Form, bool) {
	failed := len(r.errs)
	b := &builder{r: r, pos: f.pos, c: f.c, table: map[string]isa.Count{}}
	b.form = isa.Form{
		Section: f.c.section, Gates: f.c.gates, Gone: f.c.gone,
		Wording: isa.Wording{Ignored: f.c.ignored}, Effects: f.c.effects, Lenient: f.c.lenient,
		Notes: f.c.notes,
	}
	b.form.Kind = r.kind(cmp.Or(f.c.kind, r.ins.Name))
	parts := b.name(f.decl)
	b.text.WriteString(r.ins.Name)
	b.slots(parts, true)
	b.form.Template = b.text.String()
	b.order()
	for i, t := range f.c.tables {
		b.addTable(i, t)
	}
	b.number(f.decl.Operands)
	b.form.Operands = b.items(f.decl.Operands, isa.Always, nil, nil)
	for _, w := range f.c.when {
		b.form.When = append(b.form.When, isa.Condition{
			If: b.expr(w.If), Gate: r.gateOf(w.Gate), Gone: w.Word == "gone",
		})
	}
	for _, rule := range f.c.rules {
		x := b.expr(rule.expr)
		text := "require " + rule.expr.String()
		if rule.forbid {
			x = append(x, isa.Op{Code: isa.OpNot})
			text = "forbid " + rule.expr.String()
		}
		b.form.Rules = append(b.form.Rules, isa.Rule{Holds: x, Text: text, Why: rule.why})
	}
	return b.form, len(r.errs) == failed
}

func (b *builder) fail(format string, args ...any) {
	b.r.fail(b.pos, "form of "+b.r.ins.Name+": "+format, args...)
}

// name removes the parts of a template that are words of the instruction's name, and returns the
// other parts.
func (b *builder) name(d *FormDecl) []*Part {
	have := d.Head
	parts := d.Parts
	for have != b.r.ins.Name && len(parts) > 0 && parts[0].Mod != "" &&
		strings.HasPrefix(b.r.ins.Name, have+parts[0].Mod) {
		have += parts[0].Mod
		parts = parts[1:]
	}
	if have != b.r.ins.Name {
		b.fail("template begins with %s", have)
	}
	return parts
}

// slots adds the slots of a template. The required slots of an optional group are tied: all of them
// are filled, or none.
func (b *builder) slots(parts []*Part, required bool) (own []int) {
	for _, p := range parts {
		if p.Group == nil {
			own = append(own, b.slot(p.Mod, required))
			continue
		}
		b.text.WriteString("{")
		inner := b.slots(p.Group, false)
		b.text.WriteString("}")
		for _, i := range inner[min(1, len(inner)):] {
			b.tie(inner[0], i)
		}
		if len(inner) > 0 {
			b.nest(inner[0], own, required)
		}
	}
	return own
}

// tie adds the rule that slots i and j of a form are either both filled or both empty.
func (b *builder) tie(i, j int) {
	b.implies(i, j)
	b.implies(j, i)
}

func (b *builder) implies(i, j int) {
	b.form.Rules = append(b.form.Rules, isa.Rule{
		Holds: isa.Expr{{Code: isa.OpSlot, N: i}, {Code: isa.OpSlot, N: j}, {Code: isa.OpImplies}},
		Text:  "require " + b.form.Slots[i].Name + " -> " + b.form.Slots[j].Name,
	})
}

// nest adds the rule that a slot of a nested optional group is filled only if the outer group is.
func (b *builder) nest(inner int, outer []int, required bool) {
	if !required && len(outer) > 0 {
		b.implies(inner, outer[0])
	}
}

func (b *builder) slot(word string, required bool) int {
	b.text.WriteString(word)
	s := isa.Slot{Name: word, Required: required}
	if values, ok := b.c.sets[word]; ok {
		s.Values = values
	} else {
		s.Values = []isa.Value{{Mod: b.r.mod(word)}}
	}
	b.form.Slots = append(b.form.Slots, s)
	return len(b.form.Slots) - 1
}

// slotNamed returns the slot whose set has a name.
func (b *builder) slotNamed(name string) (int, bool) {
	i := slices.IndexFunc(b.form.Slots, func(s isa.Slot) bool { return s.Name == name })
	return i, i >= 0
}

// order marks the slots of a form that must keep their position: type words, and slots for which
// the spec requires it.
func (b *builder) order() {
	for i := range b.form.Slots {
		s := &b.form.Slots[i]
		types := true
		for _, v := range s.Values {
			if _, ok := b.r.types[b.r.spec.Mods[v.Mod]]; !ok {
				types = false
			}
		}
		if types {
			s.Order = 1
		}
	}
	for n, group := range b.c.ordered {
		for _, name := range group {
			if i, ok := b.slotNamed(name); ok {
				b.form.Slots[i].Order = uint8(n + 2)
			}
		}
	}
}

func (b *builder) addTable(n int, t *tableState) {
	var table isa.Table
	table.Names = t.decl.Names
	for i, name := range t.decl.Names {
		b.table[name] = isa.Count{From: isa.FromTable, N: i, In: n}
	}
	for _, c := range t.decl.Columns {
		if i, ok := b.slotNamed(c); ok {
			table.Columns = append(table.Columns, isa.Column{Slot: i})
		} else {
			table.Columns = append(table.Columns, isa.Column{Slot: -1, Mod: b.r.mod(c)})
		}
	}
	for i, row := range t.rows {
		if len(row.Cells) != len(table.Columns) || len(row.Lengths) != len(table.Names) {
			b.r.fail(t.at[i], "row has %d cells and %d lengths, table has %d and %d",
				len(row.Cells), len(row.Lengths), len(table.Columns), len(table.Names))
			continue
		}
		out := isa.Row{Lengths: row.Lengths}
		if row.Gate != nil {
			out.Gate = b.r.gateOf(row.Gate)
		}
		for j, cell := range row.Cells {
			out.Cells = append(out.Cells, b.cell(t, i, table.Columns[j], cell))
		}
		table.Rows = append(table.Rows, out)
	}
	b.form.Tables = append(b.form.Tables, table)
}

// cell returns the modifiers that a table cell admits, or nil for any.
func (b *builder) cell(t *tableState, row int, c isa.Column, d *CellDecl) []isa.Mod {
	switch {
	case d.Any:
		return nil
	case d.None:
		return []isa.Mod{isa.NoMod}
	}
	var out []isa.Mod
	add := func(m isa.Mod) {
		out = append(out, m)
		if c.Slot >= 0 && m != isa.NoMod &&
			!slices.ContainsFunc(b.form.Slots[c.Slot].Values, func(v isa.Value) bool {
				return v.Mod == m
			}) {
			b.r.fail(t.at[row], "%s is no value of %s", b.r.spec.Mods[m], b.form.Slots[c.Slot].Name)
		}
	}
	for _, m := range d.Mods {
		if m == "-" {
			add(isa.NoMod)
		} else if values, ok := b.c.sets[m]; ok {
			for _, v := range values {
				add(v.Mod)
			}
		} else {
			add(b.r.mod(m))
		}
	}
	return out
}
