// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/layout"
)

// TestWrap compares wrapped lines with a simple word-by-word wrap, with and without multi-byte
// letters.
func TestWrap(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 2000 {
		indent := random.IntN(16)
		letter := []string{"x", "x", "é", "/", `"`}[round%5]
		var words []string
		for range 1 + random.IntN(60) {
			word := strings.Repeat(letter, 2*random.IntN(8)) + strings.Repeat("y", random.IntN(6))
			if random.IntN(30) == 0 {
				word = strings.Repeat("wide", 40)
			}
			if random.IntN(4) > 0 && len(words) > 0 {
				word = " " + word
			}
			words = append(words, word)
		}
		head := strings.Repeat("h", 1+random.IntN(30))
		var p layout.Page
		p.Indent = indent
		text := append(p.Begun(p.Straight()), head...)
		text = append(layout.Behind(text, len(text)), strings.Join(words, ",")...)
		p.Take(p.Done(append(text, ';'), indent, indent+len(head)+1))

		words[len(words)-1] += ";"
		line := strings.Repeat("\t", indent) + head + " "
		at := 8*indent + len(head) + 1
		var want []string
		if all := strings.Join(words, ","); at+len(all) <= 120 {
			want, words = []string{line + all}, nil
		}
		for i, word := range words {
			if i < len(words)-1 {
				word += ","
			}
			if at+utf8.RuneCountInString(word) > 120 {
				want = append(want, strings.TrimRight(line, " "))
				line, at = strings.Repeat("\t", indent+1), 8*(indent+1)
				word = strings.TrimLeft(word, " ")
			}
			line += word
			at += utf8.RuneCountInString(word)
		}
		if words != nil {
			want = append(want, line)
		}
		if diff := cmp.Diff(strings.Join(want, "\n")+"\n", p.Give()); diff != "" {
			t.Fatalf("round %d: %s", round, diff)
		}
	}
}
