// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A finding refers to the diagnostic that was recorded last. The caller may add details to it
// before it records another one.
type finding struct {
	c *checker
	d *diag.Diagnostic
}

// Limits for modules with very many mistakes, so that checking them hardly takes longer than
// checking a correct module.
const (
	maxFindings = 10_000
	maxAdvice   = 100 // number of searches for similar names
)

// allowAdvice counts a search for a similar name, and reports whether it is allowed.
func (c *checker) allowAdvice() bool {
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

// withRelated adds a related position, such as that of the first declaration.
func (f finding) withRelated(n ptx.Node, format string, args ...any) finding {
	f.d.Related = append(f.d.Related,
		diag.Related{Place: f.c.place(n.Pos(), n.End()), Message: fmt.Sprintf(format, args...)})
	return f
}

// withFix adds a fix that replaces the source text of n by text. format describes the fix.
func (f finding) withFix(n ptx.Node, text, format string, args ...any) finding {
	return f.withFixAt(n.Pos(), n.End(), text, format, args...)
}

func (f finding) withFixAt(from, to ptx.Pos, text, format string, args ...any) finding {
	f.d.Fix = &diag.Fix{
		Message: fmt.Sprintf(format, args...),
		Edits:   []diag.Edit{{Place: f.c.place(from, to), New: text}},
	}
	return f
}

// asGuess marks the fix of the finding as a guess.
func (f finding) asGuess() finding {
	if f.d.Fix != nil {
		f.d.Fix.Guess = true
	}
	return f
}

// suggestName adds a similar name to the message, and a fix that replaces the source text of n by
// that name. It does nothing if name is "".
func (f finding) suggestName(n ptx.Node, name string) finding {
	if name == "" {
		return f
	}
	f.d.Message += fmt.Sprintf("; did you mean %s?", clip(name))
	f = f.withFix(n, name, "write %s", clip(name))
	f.d.Fix.Guess = true
	return f
}

// place converts a range of byte offsets to lines and columns.
func (c *checker) place(from, to ptx.Pos) diag.Place { return c.src.Place(from, to) }

// clip shortens a word of the source to at most 80 bytes, for messages.
func clip(word string) string {
	if len(word) > 80 {
		word = word[:77] + "..."
	}
	return strings.ToValidUTF8(word, "?")
}

// plural returns the number with the noun in singular or plural, such as "2 arguments".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
