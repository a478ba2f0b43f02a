// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A change is an edit by offsets.
type change struct {
	from, to int
	new      string
}

// Apply applies edits of one file to its text. Edits that overlap, or that lie outside the
// text, are an error.
func Apply(text string, edits []Edit) (string, error) {
	changes, err := locate(text, edits)
	if err != nil {
		return "", err
	}
	return rewrite(text, changes), nil
}

// ApplyFixes applies the fixes of the findings of one file to its text in order, except fixes
// that may be wrong. It skips a fix that overlaps an earlier one. made is the number of applied
// fixes and left the number of skipped fixes.
func ApplyFixes(text string, l List) (fixed string, made, left int) {
	var all []change
	for _, d := range l {
		if d.Fix == nil || d.Fix.Guess || len(d.Fix.Edits) == 0 {
			continue
		}
		changes, err := locate(text, d.Fix.Edits)
		if err == nil {
			both := slices.Concat(all, changes)
			if both, err = arrange(both); err == nil {
				all = both
				made++
				continue
			}
		}
		left++
	}
	return rewrite(text, all), made, left
}

func locate(text string, edits []Edit) ([]change, error) {
	r := reader{text: text}
	changes := make([]change, 0, len(edits))
	for _, e := range edits {
		p := e.Place.closed()
		from, ok := r.offset(p.Line, p.Column)
		to, ok2 := r.offset(p.EndLine, p.EndColumn)
		if !ok || !ok2 {
			return nil, fmt.Errorf("%s: the edit lies outside the text", p)
		}
		changes = append(changes, change{from, to, e.New})
	}
	return arrange(changes)
}

// arrange sorts changes by position. It returns an error if two changes overlap. Two insertions
// at the same position have no order and count as overlapping.
func arrange(changes []change) ([]change, error) {
	slices.SortStableFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for i := 1; i < len(changes); i++ {
		if a, b := changes[i-1], changes[i]; b.from < a.to || a.from == b.from {
			return nil, fmt.Errorf("edits overlap at byte %d", b.from)
		}
	}
	return changes, nil
}

func rewrite(text string, changes []change) string {
	if len(changes) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, c := range changes {
		b.WriteString(text[at:c.from])
		b.WriteString(c.new)
		at = c.to
	}
	b.WriteString(text[at:])
	return b.String()
}
