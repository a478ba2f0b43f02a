// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package diag defines positions in source text and diagnostics about them: one diagnostic type for
// all packages, lists of diagnostics, and their rendering for people and for programs. It is
// independent of PTX.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Place is a range of text in a file. Lines and columns count from 1, columns in bytes; End is
// the position just after the last byte. The zero Place means "no position".
type Place struct {
	File               string
	Line, Column       int
	EndLine, EndColumn int
}

// IsValid reports whether p has a line number.
func (p Place) IsValid() bool { return p.Line > 0 }

// String returns file:line:column, which editors and terminals turn into links.
func (p Place) String() string {
	if !p.IsValid() {
		if p.File == "" {
			return "-"
		}
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// A Severity ranks findings. Errors set the exit status, and so do reviews on request.
type Severity uint8

const (
	// Error marks a definite mistake.
	Error Severity = iota
	// Warning marks code that is legal but almost certainly unintended.
	Warning
	// Review marks code that is legal only under a condition that could not be decided.
	Review
	// Note marks advice, and what was not checked.
	Note
)

// String returns the lower-case name of s.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Review:
		return "review"
	}
	return "note"
}

// An Edit replaces the text of a place. If the place is empty (start equals end), it inserts
// text.
type Edit struct {
	Place Place
	New   string
}

// A Fix is a set of edits that removes the finding, with a sentence that describes it.
type Fix struct {
	Message string
	Edits   []Edit
	Guess   bool // the fix guesses the intention: show it, but do not apply it automatically
}

// Related is another position that a finding refers to.
type Related struct {
	Place   Place
	Message string
}

// A Diagnostic is one finding.
type Diagnostic struct {
	Place    Place
	Rule     string // stable id, such as F203; `ptxdsl explain` prints its page
	Severity Severity
	Message  string    // subject, what it is, what was expected; lower case, no full stop
	Related  []Related // other positions, in the order of the explanation
	From     []Place   // callers of the Go line at Place, innermost first
	Fix      *Fix
}

// A List is a set of findings.
type List []Diagnostic

// Sort sorts l by file, position, rule and message, and removes repetitions of one rule on one
// line of a file.
func (l List) Sort() List {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Place.File, b.Place.File),
			cmp.Compare(a.Place.Line, b.Place.Line),
			cmp.Compare(a.Place.Column, b.Place.Column),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
		)
	})
	type key struct {
		file, rule string
		line       int
	}
	seen := make(map[key]bool, len(l))
	return slices.DeleteFunc(l, func(d Diagnostic) bool {
		if !d.Place.IsValid() {
			return false
		}
		k := key{d.Place.File, d.Rule, d.Place.Line}
		if seen[k] {
			return true
		}
		seen[k] = true
		return false
	})
}

// String returns the findings as text, without source excerpts.
func (l List) String() string {
	var b strings.Builder
	if err := (Printer{Source: func(string) (string, bool) { return "", false }}).Print(&b,
		l); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Err returns the errors of l as one Go error, or nil if l has no errors. The text is the first
// error with its position, and the number of further errors.
func (l List) Err() error {
	for _, d := range l {
		if d.Severity != Error {
			continue
		}
		more := ""
		if n := l.Errors() - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		return fmt.Errorf("%v: %s: %s%s", d.Place, d.Rule, d.Message, more)
	}
	return nil
}

// Errors counts the findings of severity Error.
func (l List) Errors() int {
	n := 0
	for _, d := range l {
		if d.Severity == Error {
			n++
		}
	}
	return n
}
