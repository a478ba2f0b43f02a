// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/layout"
)

// TestStraight checks that lines written directly look like lines that were collected.
func TestStraight(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		type line struct{ head, tail string }
		var lines []line
		for range 1 + random.IntN(8) {
			l := line{head: strings.Repeat("h", 1+random.IntN(40))}
			if random.IntN(4) > 0 {
				l.tail = strings.Repeat("tail, ", random.IntN(40)) + "end"
			}
			lines = append(lines, l)
		}
		var collected, once layout.Page
		collected.Indent = random.IntN(12)
		once.Indent = collected.Indent
		column := 0
		for _, l := range lines {
			collected.Begin(layout.Instr)
			collected.Put(l.head)
			if l.tail != "" {
				collected.Tail()
				collected.Put(l.tail)
				column = layout.Column(column, len(l.head))
			}
			collected.Put(";")
			collected.End()
		}
		text := once.Straight()
		for _, l := range lines {
			text = once.Begun(text)
			head, tail := len(text), 0
			text = append(text, l.head...)
			if l.tail != "" {
				text = layout.Behind(text, head+column)
				tail = len(text)
				text = append(text, l.tail...)
			}
			text = once.Done(append(text, ';'), head, tail)
		}
		once.Take(text)
		want, got := collected.Text(), once.Give()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if rest := once.Text(); rest != "" {
			t.Fatalf("what was given away is still there: %q", rest)
		}
	}
}
