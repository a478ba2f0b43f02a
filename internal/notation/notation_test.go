// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package notation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/notation"
	"github.com/ptxdsl/ptxdsl/isa"
)

func TestForms(t *testing.T) {
	set := isa.Standard()
	words := notation.Words(set.Mods)
	for _, test := range []struct {
		name   string
		form   int
		syntax string
		lines  []notation.Line
	}{
		// A slot named .int is not confused with the table's own types for integers, such as .i32.
		{"add", 0, "add.int d, a, b", []notation.Line{
			{Name: "d", Text: ".int register, written"},
			{Name: "a", Text: ".int register or constant"},
			{Name: "b", Text: ".int register or constant"},
		}},
		{"mbarrier.init", 0, "mbarrier.init{.layout}{.own}.b64 [a], count", []notation.Line{
			{Name: "a", Text: "address in the space of .own, or a variable in .shared"},
			{Name: "count", Text: "32-bit integer register or constant 1 to 1048575"},
		}},
		{"elect", 0, "elect.sync d|p, mask", []notation.Line{
			{Name: "d", Text: "32-bit integer register or _, written"},
			{Name: "p", Text: ".pred register, written"},
			{Name: "mask", Text: "32-bit integer register or constant"},
		}},
		{"exit", 0, "exit", nil},
	} {
		f := &set.Named(test.name)[0].Forms[test.form]
		if got := words.Syntax(f); got != test.syntax {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.syntax)
		}
		if diff := cmp.Diff(test.lines, words.Lines(f)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}
