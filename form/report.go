// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A finding is the diagnostic that was recorded last. The caller adds details to it at once.
type finding struct {
	c *checker
	d *diag.Diagnostic
}

// Limits that keep the cost of checking a module with a mistake on every line close to that of a
// correct module.
const (
	maxFindings = 10_000
	maxAdvice   = 100 // searches for similar names
)

// advise reports whether another search for a similar name is allowed.
func (c *checker) advise() bool {
	c.advice++
	return c.advice <= maxAdvice
}

// fault records a violation of rule r at the source range of n.
func (c *checker) fault(r *diag.Rule, n ptx.Node, format string, args ...any) finding {
	return c.faultAt(r, n.Pos(), n.End(), format, args...)
}

func (c *checker) faultAt(r *diag.Rule, from, to ptx.Pos, format string, args ...any) finding {
	return c.add(r.ID, r.Severity, from, to, fmt.Sprintf(format, args...))
}

func (c *checker) add(rule string, s diag.Severity, from, to ptx.Pos, message string) finding {
	if len(c.list) >= maxFindings {
		c.dropped = diag.Diagnostic{}
		return finding{c, &c.dropped}
	}
	if len(c.list) == maxFindings-1 {
		rule, message = "F108", fmt.Sprintf("more than %d findings; the others are not shown",
			maxFindings-1)
	}
	c.list = append(c.list,
		diag.Diagnostic{Place: c.place(from, to), Rule: rule, Severity: s, Message: message})
	return finding{c, &c.list[len(c.list)-1]}
}

// related adds another place, such as that of the first declaration.
func (f finding) related(n ptx.Node, format string, args ...any) finding {
	f.d.Related = append(f.d.Related,
		diag.Related{Place: f.c.place(n.Pos(), n.End()), Message: fmt.Sprintf(format, args...)})
	return f
}

// fix adds the edit that replaces the extent of n.
func (f finding) fix(n ptx.Node, text, format string, args ...any) finding {
	return f.fixAt(n.Pos(), n.End(), text, format, args...)
}

func (f finding) fixAt(from, to ptx.Pos, text, format string, args ...any) finding {
	f.d.Fix = &diag.Fix{
		Message: fmt.Sprintf(format, args...),
		Edits:   []diag.Edit{{Place: f.c.place(from, to), New: text}},
	}
	return f
}

// guess marks the fix as a guess.
func (f finding) guess() finding {
	if f.d.Fix != nil {
		f.d.Fix.Guess = true
	}
	return f
}

// suggestName adds the suggestion of a similar name for the word at n, if there is one.
func (f finding) suggestName(n ptx.Node, name string) finding {
	if name == "" {
		return f
	}
	f.d.Message += fmt.Sprintf("; did you mean %s?", clip(name))
	f = f.fix(n, name, "write %s", clip(name))
	f.d.Fix.Guess = true
	return f
}

// place converts byte offsets to lines and columns.
func (c *checker) place(from, to ptx.Pos) diag.Place { return c.src.Place(from, to) }

// clip shortens a word of the source for a message.
func clip(word string) string {
	if len(word) > 80 {
		word = word[:77] + "..."
	}
	return strings.ToValidUTF8(word, "?")
}

// plural returns "1 argument", "2 arguments".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
