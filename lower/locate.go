// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/layout"
	"github.com/ptxdsl/ptxdsl/ir"
)

// locate writes a .loc line if the source line changes.
func (w *writer) locate(pos ir.Pos) {
	if !w.lines || pos == ir.NoPos || pos == w.at {
		return
	}
	w.at = pos
	at, _ := w.m.At(pos)
	at = diag.Place{File: at.File, Line: at.Line, Column: max(1, at.Column)}
	if at.File == "" || at.Line == 0 || at == w.place {
		return
	}
	w.place = at
	n, ok := w.files[at.File]
	if !ok {
		if w.files == nil {
			w.files = make(map[string]int)
		}
		n = w.file0() + len(w.files)
		w.files[at.File] = n
		w.names = append(w.names, at.File)
	}
	w.Begin(layout.Pass)
	w.Put(".loc ")
	w.number(n)
	w.Put(" ")
	w.number(at.Line)
	w.Put(" ")
	w.number(at.Column)
	w.End()
}

// file0 returns the first file number that the module does not use.
func (w *writer) file0() int {
	first := 1
	for _, d := range w.m.Decls {
		if d, ok := d.(*ir.Directive); ok && d.Name == ".file" {
			word, _, _ := strings.Cut(d.Text, " ")
			if n, err := strconv.Atoi(word); err == nil {
				first = max(first, n+1)
			}
		}
	}
	return first
}

// quoted returns a file name as a PTX string, which has no escapes and no non-ASCII characters.
func quoted(name string) string {
	clean := func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' {
			return '_'
		}
		return r
	}
	return `"` + strings.Map(clean, strings.ReplaceAll(name, `\`, "/")) + `"`
}
