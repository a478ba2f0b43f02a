// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// GitHub writes findings as GitHub workflow commands, which appear as annotations on the lines
// of a pull request. Columns count characters, and a range ends at its last character.
func GitHub(w io.Writer, src Source, l List) error {
	b := bufio.NewWriter(w)
	texts := newReaders(src)
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for i := range l {
		d := &l[i]
		word := "notice"
		switch d.Severity {
		case Error:
			word = "error"
		case Warning, Review:
			word = "warning"
		}
		p := d.Place.closed()
		fmt.Fprintf(b, "::%s file=%s", word, property.Replace(p.File))
		if p.IsValid() {
			from := texts.character(p.File, p.Line, p.Column)
			to := texts.character(p.File, p.EndLine, p.EndColumn) - 1
			if p.EndLine == p.Line {
				to = max(from, to)
			}
			fmt.Fprintf(b, ",line=%d,endLine=%d,col=%d,endColumn=%d", p.Line, p.EndLine, from,
				max(1, to))
		}
		if d.Rule != "" {
			fmt.Fprintf(b, ",title=%s", property.Replace(d.Rule))
		}
		message := d.Message
		for _, r := range d.Related {
			message += fmt.Sprintf("\n%s: %s", r.Place, r.Message)
		}
		if d.Fix != nil {
			message += prefix("\nfix: ", d.Fix.description())
		}
		fmt.Fprintf(b, "::%s\n", data.Replace(message))
	}
	return b.Flush()
}
