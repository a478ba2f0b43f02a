// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"bufio"
	"encoding/json"
	"io"
)

// Fields of a finding and their order are part of the interface: programs read them.
type (
	jsonPlace struct {
		File      string `json:"file"`
		Line      int    `json:"line"`
		Column    int    `json:"column"`
		EndLine   int    `json:"end_line"`
		EndColumn int    `json:"end_column"`
	}
	jsonFinding struct {
		jsonPlace
		Rule     string        `json:"rule"`
		Severity string        `json:"severity"`
		Message  string        `json:"message"`
		Related  []jsonRelated `json:"related,omitempty"`
		From     []jsonPlace   `json:"called_from,omitempty"`
		Fix      *jsonFix      `json:"fix,omitempty"`
	}
	jsonRelated struct {
		jsonPlace
		Message string `json:"message"`
	}
	jsonFix struct {
		Message string     `json:"message"`
		Guess   bool       `json:"guess,omitempty"` // do not apply it automatically
		Edits   []jsonEdit `json:"edits"`
	}
	jsonEdit struct {
		jsonPlace
		New string `json:"new"`
	}
)

func toJSON(p Place) jsonPlace {
	p = p.closed()
	return jsonPlace(p)
}

// JSON writes one JSON object per finding and line. Lines and columns count from 1, columns in
// bytes; the end is the place just after the range.
func JSON(w io.Writer, l List) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i := range l {
		d := &l[i]
		f := jsonFinding{jsonPlace: toJSON(d.Place), Rule: d.Rule, Severity: d.Severity.String(),
			Message: d.Message}
		for _, r := range d.Related {
			f.Related = append(f.Related, jsonRelated{toJSON(r.Place), r.Message})
		}
		for _, at := range d.From {
			f.From = append(f.From, toJSON(at))
		}
		if d.Fix != nil {
			f.Fix = &jsonFix{d.Fix.description(), d.Fix.Guess,
				make([]jsonEdit, 0, len(d.Fix.Edits))}
			for _, e := range d.Fix.Edits {
				f.Fix.Edits = append(f.Fix.Edits, jsonEdit{toJSON(e.Place), e.New})
			}
		}
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	return b.Flush()
}
