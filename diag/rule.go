// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"cmp"
	"slices"
	"strings"
)

// A Rule is one kind of mistake that a check reports, with its page. Rules are static values in the
// package that reports them. The texts are for the author of the PTX.
type Rule struct {
	ID       string   // stable, such as F203; letters, then digits
	Title    string   // what is wrong, in a few words; lower case, no full stop
	Layer    string   // the checker that reports it, such as "form"
	Severity Severity // default severity of its findings
	What     string   // what is reported, in sentences
	Why      string   // consequences for a program that violates it
	Wrong    string   // PTX that violates it
	Right    string   // the same PTX, corrected
	Fix      string   // how to correct it
	Gaps     string   // what the check cannot detect; "" if no gaps are known
	Section  string   // section of the PTX manual, such as "9.7.9.8 ld"
}

// As returns a copy of the rule with another default severity.
func (r Rule) As(s Severity) Rule {
	r.Severity = s
	return r
}

// Page returns the page of the rule as plain text, for ptxdsl explain.
func (r Rule) Page() string {
	var b strings.Builder
	b.WriteString(r.ID + ": " + r.Title + "\n")
	b.WriteString("layer " + r.Layer + ", severity " + r.Severity.String() + "\n")
	part := func(head, text string, code bool) {
		text = strings.Trim(text, "\n")
		if strings.TrimSpace(text) == "" {
			return
		}
		b.WriteString("\n" + head + "\n")
		if !code {
			text = wrap(text, 76)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != "" {
				b.WriteString("    " + strings.TrimRight(line, " \t\r"))
			}
			b.WriteByte('\n')
		}
	}
	part("What", r.What, false)
	part("Why", r.Why, false)
	part("Wrong", r.Wrong, true)
	part("Right", r.Right, true)
	part("Fix", r.Fix, false)
	part("Gaps", r.Gaps, false)
	if r.Section != "" {
		part("Manual", "PTX ISA, section "+r.Section, false)
	}
	return b.String()
}

// Rules is a list of rules, in any order.
type Rules []Rule

// Sorted returns a copy of s, sorted by id.
func (s Rules) Sorted() Rules {
	return slices.SortedFunc(slices.Values(s),
		func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
}

// Find returns the rule with an id, ignoring case.
func (s Rules) Find(id string) (Rule, bool) {
	for _, r := range s {
		if strings.EqualFold(r.ID, id) {
			return r, true
		}
	}
	return Rule{}, false
}

// wrap breaks the paragraphs of text into lines of at most width runes where words allow. A line
// that begins with a blank is kept as it is.
func wrap(text string, width int) string {
	var lines []string
	var line []string
	n := 0
	flush := func() {
		if len(line) > 0 {
			lines = append(lines, strings.Join(line, " "))
			line, n = line[:0], 0
		}
	}
	for raw := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(raw) == "" || raw[0] == ' ' || raw[0] == '\t' {
			flush()
			lines = append(lines, strings.TrimRight(raw, " \t\r"))
			continue
		}
		for _, word := range strings.Fields(raw) {
			w := len([]rune(word))
			if n > 0 && n+1+w > width {
				flush()
			}
			if n > 0 {
				n++
			}
			line = append(line, word)
			n += w
		}
	}
	flush()
	return strings.Join(lines, "\n")
}
