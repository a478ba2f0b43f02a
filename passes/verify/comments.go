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
var commentWords = []string{"ignore", "bytes", "element", "box"}

// unknownComments returns findings about comments that start with commentPrefix but have no
// meaning.
func unknownComments(m *ir.Module) (l diag.List) {
	read := func(pos ir.Pos, texts ...string) {
		for _, text := range texts {
			for _, word := range unknownWords(text) {
				at, from := m.At(pos)
				message := fmt.Sprintf("comment %s%s has no effect", commentPrefix, word)
				if near := diag.Nearest(word, commentWords); near != "" {
					message += fmt.Sprintf("; did you mean %s%s?", commentPrefix, near)
				}
				l = append(l, diag.Diagnostic{Place: at, From: from, Rule: ruleUnused.ID,
					Severity: diag.Warning, Message: message})
			}
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

// unknownWords returns the words without a meaning that follow commentPrefix in a comment. What
// follows ignore is a reason.
func unknownWords(text string) (list []string) {
	for {
		_, rest, found := strings.Cut(text, commentPrefix)
		if !found {
			return list
		}
		word := rest
		if i := strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' }); i >= 0 {
			word = rest[:i]
		}
		switch {
		case word == "ignore":
			return list
		case !slices.Contains(commentWords, word):
			list = append(list, word)
		}
		text = rest
	}
}
