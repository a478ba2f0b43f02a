// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package notation formats instruction forms for people to read, in the notation of the PTX manual
// and of the spec files.
package notation

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Words has the modifiers of an instruction set, each with its dot, indexed by isa.Mod.
type Words []string

// Word returns the text of a modifier, with its dot.
func (w Words) Word(m isa.Mod) string { return w[m] }

// A Line is an operand name and a description of what the operand accepts.
type Line struct{ Name, Text string }

// Syntax returns the opcode and operands of a form, without the semicolon.
func (w Words) Syntax(f *isa.Form) string {
	return strings.TrimSuffix(f.Template+" "+w.Operands(f, f.Operands), " ")
}

// Lines returns descriptions of what each operand of f accepts, and each part of an operand.
func (w Words) Lines(f *isa.Form) []Line { return w.lines(f, f.Operands, "") }

// Values returns the values of a slot. If a value requires a version or target, these follow in
// brackets.
func (w Words) Values(values []isa.Value) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = w.Word(v.Mod)
		if g := Gate(v.Gate); g != "" {
			words[i] += "[" + g + "]"
		}
	}
	return strings.Join(words, " ")
}

// Gate formats the alternatives of a gate, such as "8.6 sm_100a, 8.8 sm_100f".
func Gate(g isa.Gate) string {
	words := make([]string, len(g.Clauses))
	for i, c := range g.Clauses {
		words[i] = c.Since.String()
		for on := range strings.FieldsSeq(c.On) {
			words[i] += " " + Target(on)
		}
	}
	return strings.Join(words, ", ")
}

// Target formats a target of a gate: sm_90+ stands for sm_90 and later, sm_100f for its family.
func Target(on string) string {
	if last := on[len(on)-1]; last == 'a' || last == 'f' {
		return "sm_" + on
	}
	return "sm_" + on + "+"
}

// Operands formats operands in the notation of the manual.
func (w Words) Operands(f *isa.Form, list []isa.Operand) string {
	var b strings.Builder
	for i, o := range list {
		if w.Absent(f, &o) {
			continue
		}
		text := o.Name
		if o.Inside != nil {
			text = "[" + w.Operands(f, o.Inside) + "]"
		}
		if o.Pair != nil {
			second := o.Pair.Name
			if o.Pair.Presence == isa.Always {
				text += "|" + second
			} else {
				text += "{|" + second + "}"
			}
		}
		comma := ", "
		if i == 0 {
			comma = ""
		}
		if o.Presence == isa.Always {
			b.WriteString(comma + text)
		} else {
			b.WriteString("{" + comma + text + "}")
		}
	}
	return b.String()
}

// Absent reports whether an operand never occurs in f.
func (w Words) Absent(f *isa.Form, o *isa.Operand) bool {
	return (o.Presence == isa.PresentIf || o.Presence == isa.PresentWhen) &&
		w.Expr(f, o.If) == Never
}

// lines returns descriptions of what each operand in list accepts. under is the prefix of the
// names of parts.
func (w Words) lines(f *isa.Form, list []isa.Operand, under string) []Line {
	var out []Line
	for _, o := range list {
		if w.Absent(f, &o) {
			continue
		}
		if o.Inside != nil {
			out = append(out, w.lines(f, o.Inside, under)...)
			continue
		}
		var kinds []string
		for _, k := range o.Kinds {
			kinds = append(kinds, w.Kind(f, &k, o.Access))
		}
		text := strings.Join(slices.Compact(kinds), " or ")
		switch o.Access {
		case isa.Write:
			text += ", written"
		case isa.ReadWrite:
			text += ", read and written"
		}
		switch o.Presence {
		case isa.Maybe:
			text += "; may be left out"
		case isa.PresentIf:
			text += "; exactly with " + w.Expr(f, o.If)
		case isa.PresentWhen:
			text += "; may be there with " + w.Expr(f, o.If)
		}
		out = append(out, Line{under + o.Name, text})
		for _, k := range o.Kinds {
			out = append(out, w.lines(f, k.Parts, under+o.Name+".")...)
		}
		if o.Pair != nil {
			out = append(out, w.lines(f, []isa.Operand{*o.Pair}, under)...)
		}
	}
	return out
}
