// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// print shows the selection: briefly, a line for each instruction, or with all forms.
func (s *selection) print(w io.Writer, brief bool) {
	if brief {
		family := ""
		for _, ins := range s.instructions {
			if ins.Family != family {
				fmt.Fprintf(w, "%s%s\n", lead(family), ins.Family)
				family = ins.Family
			}
			fmt.Fprintf(w, "    %-36s %3d  %s\n", ins.Name, len(ins.Forms), ins.What)
		}
		return
	}
	sep := ""
	for _, ins := range s.instructions {
		fmt.Fprintf(w, "%s%s: %s (%s)\n", sep, ins.Name, ins.What, ins.Family)
		for i := range ins.Forms {
			printForm(w, &ins.Forms[i])
		}
		sep = "\n"
	}
	for _, sp := range s.specials {
		words := sp.Type.String()
		if sp.Vector {
			words += ", with .x .y .z .w"
		}
		fmt.Fprintf(w, "%s%s: %s\n    type   %s\n    since  %s\n", sep, sp.Name, sp.What, words, sp.Gate)
		sep = "\n"
	}
	for _, d := range s.directives {
		fmt.Fprintf(w, "%s%s: %s\n    form   %s\n    where  %s\n    since  %s\n", sep, d.Name, d.What,
			strings.TrimSpace(d.Name+" "+d.Args), strings.Join(d.Where, ", "), d.Gate)
		if len(d.Gone.Clauses) > 0 {
			fmt.Fprintf(w, "    until  %s\n", d.Gone)
		}
		sep = "\n"
	}
}

func lead(before string) string {
	if before == "" {
		return ""
	}
	return "\n"
}

// printForm shows one form: how it is written, then a line for each thing to know about it.
func printForm(w io.Writer, f *isa.Form) {
	fmt.Fprintf(w, "\n  %s%s;\n", f.Template, prefixed(" ", operandList(f, f.Operands)))
	line := func(head, text string) {
		if text != "" {
			fmt.Fprintf(w, "    %-10s %s\n", head, fold(text, 86, "\n               "))
		}
	}
	seen := map[string]bool{}
	for _, s := range f.Slots {
		if len(s.Values) > 1 && !seen[s.Name] || len(s.Values) == 1 && len(s.Values[0].Gate.Clauses) > 0 {
			line(s.Name, valueList(s.Values))
			seen[s.Name] = true
		}
	}
	for _, l := range operandLines(f, f.Operands, "") {
		line(l[0], l[1])
	}
	for i := range f.Tables {
		for j, text := range tableLines(f, &f.Tables[i]) {
			line([]string{"together", ""}[min(j, 1)], text)
		}
	}
	for _, r := range f.Rules {
		line("rule", strings.TrimSpace(r.Text+prefixed(": ", r.Why)))
	}
	for _, c := range f.When {
		word := "since "
		if c.Gone {
			word = "not from "
		}
		if text := exprText(f, c.If); text != never {
			line("when", text+" "+word+c.Gate.String())
		}
	}
	if len(f.Gates) == 0 {
		line("since", "PTX 1.0")
	}
	for _, g := range f.Gates {
		line("since", g.String())
	}
	for _, g := range f.Gone {
		line("until", g.String())
	}
	line("manual", f.Section)
	for _, n := range f.Notes {
		line("note", n)
	}
	line("note", prefixed("not in the manual: ", f.Lenient))
}

func prefixed(p, s string) string {
	if s == "" {
		return ""
	}
	return p + s
}

// fold breaks a line at blanks.
func fold(s string, width int, newline string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Split(s, " ") {
		if i > 0 && n+1+len(word) > width {
			b.WriteString(newline)
			n = 0
		} else if i > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}

// valueList is the values of a slot, those that came later or are not everywhere with their gate.
func valueList(values []isa.Value) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = word(v.Mod)
		if g := shortGate(v.Gate); g != "" {
			words[i] += "[" + g + "]"
		}
	}
	return strings.Join(words, " ")
}

// shortGate is a gate as it fits behind a word: "8.6 sm_100a, 8.8 sm_100f".
func shortGate(g isa.Gate) string {
	words := make([]string, len(g.Clauses))
	for i, c := range g.Clauses {
		words[i] = c.Since.String()
		for on := range strings.FieldsSeq(c.On) {
			words[i] += " " + targetWord(on)
		}
	}
	return strings.Join(words, ", ")
}

// targetWord is a target of a gate: sm_90+ for all from sm_90 on, sm_100f for its family.
func targetWord(on string) string {
	if last := on[len(on)-1]; last == 'a' || last == 'f' {
		return "sm_" + on
	}
	return "sm_" + on + "+"
}

// operandList is the operands as the manual writes them.
func operandList(f *isa.Form, list []isa.Operand) string {
	var b strings.Builder
	for i, o := range list {
		if absent(f, &o) {
			continue
		}
		text := o.Name
		if o.Inside != nil {
			text = "[" + operandList(f, o.Inside) + "]"
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

// absent reports whether an operand can never be there.
func absent(f *isa.Form, o *isa.Operand) bool {
	return (o.Presence == isa.PresentIf || o.Presence == isa.PresentWhen) && exprText(f, o.If) == never
}

// operandLines says of each operand, and of its parts, what may stand there.
func operandLines(f *isa.Form, list []isa.Operand, under string) [][2]string {
	var out [][2]string
	for _, o := range list {
		if absent(f, &o) {
			continue
		}
		if o.Inside != nil {
			out = append(out, operandLines(f, o.Inside, under)...)
			continue
		}
		var kinds []string
		for _, k := range o.Kinds {
			kinds = append(kinds, kindText(f, &k, o.Access))
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
			text += "; exactly with " + exprText(f, o.If)
		case isa.PresentWhen:
			text += "; may be there with " + exprText(f, o.If)
		}
		out = append(out, [2]string{under + o.Name, text})
		for _, k := range o.Kinds {
			out = append(out, operandLines(f, k.Parts, under+o.Name+".")...)
		}
		if o.Pair != nil {
			out = append(out, operandLines(f, []isa.Operand{*o.Pair}, under)...)
		}
	}
	return out
}
