// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/notation"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// Programs read these objects, so the names and order of fields must not change.
type (
	jsonForm struct {
		Name     string        `json:"name"`
		Family   string        `json:"family"`
		What     string        `json:"what"`
		Form     string        `json:"form"`
		Section  string        `json:"section"`
		Slots    []jsonSlot    `json:"modifiers"`
		Operands []jsonOperand `json:"operands"`
		// all lists must be satisfied, each by any of its gates
		Since   [][]jsonGate `json:"since"`
		Until   [][]jsonGate `json:"until,omitempty"`
		When    []jsonWhen   `json:"when,omitempty"`
		Rules   []string     `json:"rules,omitempty"`
		Tables  []jsonTable  `json:"tables,omitempty"`
		Effects []string     `json:"effects,omitempty"`
		Notes   []string     `json:"notes,omitempty"`
		Lenient string       `json:"not_in_manual,omitempty"`
	}
	jsonSlot struct {
		Name     string      `json:"name"`
		Required bool        `json:"required"`
		Values   []jsonValue `json:"values"`
	}
	jsonValue struct {
		Word  string     `json:"word"`
		Since []jsonGate `json:"since,omitempty"`
	}
	jsonGate struct {
		PTX string `json:"ptx"`
		// sm_90+ stands for sm_90 and later, sm_100f for its family, sm_100a for sm_100a only
		Targets []string `json:"targets,omitempty"`
	}
	jsonWhen struct {
		If    string     `json:"if"`
		Since []jsonGate `json:"since,omitempty"`
		Until []jsonGate `json:"until,omitempty"`
	}
	jsonTable struct {
		Columns []string `json:"columns"`
		// names of vector lengths that operands refer to
		Lengths []string  `json:"lengths,omitempty"`
		Rows    []jsonRow `json:"rows"`
	}
	jsonRow struct {
		Cells   []string   `json:"cells"` // "*" any, "-" none, "(a b)" one of the words
		Lengths []int      `json:"lengths,omitempty"`
		Since   []jsonGate `json:"since,omitempty"`
	}
	jsonOperand struct {
		Name     string        `json:"name,omitempty"`
		Access   string        `json:"access,omitempty"`
		Kinds    []string      `json:"kinds,omitempty"`
		Presence string        `json:"presence"`
		If       string        `json:"if,omitempty"`
		Inside   []jsonOperand `json:"inside,omitempty"`
		Parts    []jsonOperand `json:"parts,omitempty"`
		Pair     *jsonOperand  `json:"pair,omitempty"`
	}
)

// printISAJSON writes a JSON object for each form.
func printISAJSON(w io.Writer, list []isa.Instruction) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, ins := range list {
		for i := range ins.Forms {
			if enc.Encode(formJSON(&ins, &ins.Forms[i])) != nil {
				return // w stores the error
			}
		}
	}
}

func formJSON(ins *isa.Instruction, f *isa.Form) jsonForm {
	out := jsonForm{
		Name: ins.Name, Family: ins.Family, What: ins.What, Section: f.Section,
		Form:  tableWords().Syntax(f),
		Slots: []jsonSlot{}, Operands: operandsJSON(f, f.Operands), Since: [][]jsonGate{},
		Effects: f.Effects, Notes: f.Notes, Lenient: f.Lenient,
	}
	for _, s := range f.Slots {
		slot := jsonSlot{s.Name, s.Required, []jsonValue{}}
		for _, v := range s.Values {
			slot.Values = append(slot.Values, jsonValue{word(v.Mod), gateJSON(v.Gate)})
		}
		out.Slots = append(out.Slots, slot)
	}
	for _, g := range f.Gates {
		out.Since = append(out.Since, gateJSON(g))
	}
	for _, g := range f.Gone {
		out.Until = append(out.Until, gateJSON(g))
	}
	for _, c := range f.When {
		if tableWords().Expr(f, c.If) == notation.Never {
			continue
		}
		when := jsonWhen{If: tableWords().Expr(f, c.If), Since: gateJSON(c.Gate)}
		if c.Gone {
			when.Since, when.Until = nil, when.Since
		}
		out.When = append(out.When, when)
	}
	for _, r := range f.Rules {
		out.Rules = append(out.Rules, r.Text)
	}
	for i := range f.Tables {
		out.Tables = append(out.Tables, tableJSON(f, &f.Tables[i]))
	}
	return out
}

func tableJSON(f *isa.Form, t *isa.Table) jsonTable {
	out := jsonTable{Columns: tableWords().Columns(f, t), Lengths: t.Names}
	for _, r := range t.Rows {
		row := jsonRow{Cells: []string{}, Lengths: r.Lengths, Since: gateJSON(r.Gate)}
		for _, cell := range r.Cells {
			row.Cells = append(row.Cells, tableWords().Cell(cell))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func gateJSON(g isa.Gate) []jsonGate {
	var out []jsonGate
	for _, c := range g.Clauses {
		j := jsonGate{PTX: c.Since.String()}
		for on := range strings.FieldsSeq(c.On) {
			j.Targets = append(j.Targets, notation.Target(on))
		}
		out = append(out, j)
	}
	return out
}

func operandsJSON(f *isa.Form, list []isa.Operand) []jsonOperand {
	out := []jsonOperand{}
	for _, o := range list {
		if tableWords().Absent(f, &o) {
			continue
		}
		j := jsonOperand{Name: o.Name, Presence: "always"}
		switch o.Presence {
		case isa.Maybe:
			j.Presence = "optional"
		case isa.PresentIf:
			j.Presence, j.If = "if", tableWords().Expr(f, o.If)
		case isa.PresentWhen:
			j.Presence, j.If = "optional if", tableWords().Expr(f, o.If)
		}
		if o.Inside != nil {
			j.Inside = operandsJSON(f, o.Inside)
		} else {
			j.Access = [...]string{"read", "write", "read write"}[o.Access]
		}
		for _, k := range o.Kinds {
			j.Kinds = append(j.Kinds, tableWords().Kind(f, &k, o.Access))
			if len(k.Parts) > 0 {
				j.Parts = append(j.Parts, operandsJSON(f, k.Parts)...)
			}
		}
		if o.Pair != nil {
			pair := operandsJSON(f, []isa.Operand{*o.Pair})[0]
			j.Pair = &pair
		}
		out = append(out, j)
	}
	return out
}

// A count is a row of the statistics: one instruction family, or the total.
type count struct {
	heads, words                  map[string]bool
	names, forms, emulated, gates int
}

// printStats prints, for each family, the number of opcodes (the first words), of instructions
// (the names), of forms, and of modifier values.
func printStats(w io.Writer, list []isa.Instruction, whole bool) {
	total := count{heads: map[string]bool{}, words: map[string]bool{}}
	rows := map[string]*count{}
	var families []string
	for _, ins := range list {
		row := rows[ins.Family]
		if row == nil {
			row = &count{heads: map[string]bool{}, words: map[string]bool{}}
			rows[ins.Family] = row
			families = append(families, ins.Family)
		}
		for _, c := range []*count{row, &total} {
			c.add(&ins)
		}
	}
	fmt.Fprintf(w, "%-12s %8s %13s %7s %9s %10s %7s\n", "family", "opcodes", "instructions",
		"forms", "emulated", "modifiers", "gates")
	for _, family := range families {
		rows[family].print(w, family)
	}
	total.print(w, "total")
	if whole {
		fmt.Fprintf(w,
			"\n%d special registers, %d directives, %d pragmas, %d targets, PTX %s to %s (%d versions)\n",
			len(isa.Specials), len(isa.Directives), len(isa.Pragmas), len(isa.Targets),
			isa.Versions[0].Version, isa.Newest(), len(isa.Versions))
		printNotEmulated(w, list)
	}
}

// printNotEmulated lists the forms that the emulator cannot execute, by reason. If a reason
// applies to many forms, only their number is printed.
func printNotEmulated(w io.Writer, list []isa.Instruction) {
	const most = 10
	forms := map[string][]string{}
	var reasons []string
	for i := range list {
		for j := range list[i].Forms {
			f := &list[i].Forms[j]
			if emu.Emulates(f) {
				continue
			}
			why := emu.Excluded(f)
			if forms[why] == nil {
				reasons = append(reasons, why)
			}
			forms[why] = append(forms[why], f.Template)
		}
	}
	fmt.Fprintln(w, "\nnot emulated")
	for _, why := range reasons {
		if n := len(forms[why]); n > most {
			fmt.Fprintf(w, "  %s: %d forms\n", why, n)
			continue
		}
		fmt.Fprintf(w, "  %s\n", why)
		for _, template := range slices.Compact(forms[why]) {
			fmt.Fprintf(w, "    %s\n", template)
		}
	}
}

func (c *count) add(ins *isa.Instruction) {
	head, _, _ := strings.Cut(ins.Name, ".")
	c.heads[head] = true
	c.names++
	c.forms += len(ins.Forms)
	for i := range ins.Forms {
		f := &ins.Forms[i]
		if emu.Emulates(f) {
			c.emulated++
		}
		c.gates += len(f.Gates) + len(f.Gone) + len(f.When)
		for _, s := range f.Slots {
			for _, v := range s.Values {
				c.words[word(v.Mod)] = true
				c.gates += min(1, len(v.Gate.Clauses))
			}
		}
		for _, t := range f.Tables {
			for _, r := range t.Rows {
				c.gates += min(1, len(r.Gate.Clauses))
			}
		}
	}
}

func (c *count) print(w io.Writer, name string) {
	fmt.Fprintf(w, "%-12s %8d %13d %7d %9d %10d %7d\n", name, len(c.heads), c.names, c.forms,
		c.emulated, len(c.words), c.gates)
}
