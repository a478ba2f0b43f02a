// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
)

// commentPrefix is the start of the comments that have a meaning.
const commentPrefix = "ptxdsl:"

// commentWords are the words that have a meaning after commentPrefix.
var commentWords = []string{"ignore", "bytes", "element"}

// unknownComments returns findings about comments that start with commentPrefix but have no
// meaning.
func unknownComments(m *ir.Module) (l diag.List) {
	read := func(pos ir.Pos, texts ...string) {
		for _, text := range texts {
			_, rest, found := strings.Cut(text, commentPrefix)
			if !found {
				continue
			}
			word := rest
			if i := strings.IndexFunc(rest,
				func(r rune) bool { return r < 'a' || r > 'z' }); i >= 0 {
				word = rest[:i]
			}
			if slices.Contains(commentWords, word) {
				continue
			}
			at, from := m.At(pos)
			near := diag.Nearest(word, commentWords)
			message := fmt.Sprintf("comment %s%s has no effect", commentPrefix, word)
			if near != "" {
				message += fmt.Sprintf("; did you mean %s%s?", commentPrefix, near)
			}
			l = append(l, diag.Diagnostic{Place: at, From: from, Rule: ruleUnused.ID,
				Severity: diag.Warning, Message: message})
		}
	}
	for _, f := range m.Funcs() {
		read(f.Pos, f.Doc...)
		for _, p := range f.Params {
			read(p.Pos, append(slices.Clone(p.Doc), p.Note)...)
		}
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				read(in.Pos, in.Doc()...)
				read(in.Pos, in.Note())
			}
		}
		read(f.Pos, f.Tail...)
	}
	return l
}
