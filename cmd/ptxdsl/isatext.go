// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/notation"
	"github.com/ptxdsl/ptxdsl/isa"
)

// print prints the selection: one line for each instruction if brief is set, otherwise all forms.
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
		fmt.Fprintf(w, "%s%s: %s\n    type   %s\n    since  %s\n", sep, sp.Name, sp.What, words,
			sp.Gate)
		sep = "\n"
	}
	for _, d := range s.directives {
		fmt.Fprintf(w, "%s%s: %s\n    form   %s\n    where  %s\n    since  %s\n", sep, d.Name,
			d.What,
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

// printForm prints the syntax of a form, and a line for each property.
func printForm(w io.Writer, f *isa.Form) {
	words := tableWords()
	fmt.Fprintf(w, "\n  %s;\n", words.Syntax(f))
	line := func(head, text string) {
		if text != "" {
			fmt.Fprintf(w, "    %-10s %s\n", head, fold(text, 86, "\n               "))
		}
	}
	seen := map[string]bool{}
	for _, s := range f.Slots {
		if len(s.Values) > 1 && !seen[s.Name] || len(s.Values) == 1 &&
			len(s.Values[0].Gate.Clauses) > 0 {
			line(s.Name, words.Values(s.Values))
			seen[s.Name] = true
		}
	}
	for _, l := range words.Lines(f) {
		line(l.Name, l.Text)
	}
	for i := range f.Tables {
		for j, text := range words.Table(f, &f.Tables[i]) {
			line([]string{"together", ""}[min(j, 1)], text)
		}
	}
	for _, r := range f.Rules {
		line("rule", strings.TrimSpace(r.Text+withPrefix(": ", r.Why)))
	}
	for _, c := range f.When {
		word := "since "
		if c.Gone {
			word = "not from "
		}
		if text := words.Expr(f, c.If); text != notation.Never {
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
	line("note", withPrefix("not in the manual: ", f.Lenient))
}

func withPrefix(p, s string) string {
	if s == "" {
		return ""
	}
	return p + s
}

// fold breaks a line at spaces so that no part exceeds width, where possible.
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

// tableWords returns the modifiers of the standard instruction set, for package notation.
func tableWords() notation.Words { return notation.Words(isa.Standard().Mods) }

// word returns the text of a modifier, with its dot.
func word(m isa.Mod) string { return isa.Standard().Mods[m] }
