// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/ptx"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestFormat checks the style of formatted text: testdata/format/NAME.input becomes NAME.golden.
func TestFormat(t *testing.T) {
	inputs, err := filepath.Glob("testdata/format/*.input")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), ".input")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			got, errs := ptx.Format(input, string(text))
			if errs.Errors() > 0 {
				t.Fatalf("%s: %s", errs[0].Place, errs[0].Message)
			}
			golden := strings.TrimSuffix(input, ".input") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			checkFormat(t, string(text), got)
		})
	}
}

// checkFormat checks properties of all formatted text: formatting is idempotent, all comments are
// kept in order, and all tokens are kept, except that modifiers may be reordered.
func checkFormat(t *testing.T, text, got string) {
	t.Helper()
	again, errs := ptx.Format("formatted", got)
	if errs.Errors() > 0 {
		t.Fatalf("formatted text has errors: %s: %s\n%s", errs[0].Place, errs[0].Message, got)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("formatting again changes it: -once +twice\n%s", diff)
	}
	before, _ := ptx.Parse("before", text)
	after, _ := ptx.Parse("after", got)
	if diff := cmp.Diff(comments(before), comments(after)); diff != "" {
		t.Errorf("comments: -before +after\n%s", diff)
	}
	if diff := cmp.Diff(letters(before), letters(after)); diff != "" {
		t.Errorf("code: -before +after\n%s", diff)
	}
}

// comments returns the comments of a file, without line ends.
func comments(f *ptx.File) []string {
	var out []string
	for _, c := range f.Comments {
		text := strings.ReplaceAll(c.Text, "\r", "")
		out = append(out, strings.TrimRight(text, " \t"))
	}
	return out
}

// letters returns the text of a file without comments and white space, word by word, with the
// modifiers of each opcode sorted.
func letters(f *ptx.File) string {
	code := []byte(f.Text)
	for _, c := range f.Comments {
		for i := range c.Text {
			code[int(c.At)+i] = ' '
		}
	}
	// The semicolon of a declaration is optional; the printer adds it.
	for _, d := range slices.Backward(f.Decls) {
		if fn, ok := d.(*ptx.Func); ok && fn.Body == nil {
			code = slices.Insert(code, int(fn.To), ';')
		}
	}
	var out []string
	for statement := range strings.FieldsFuncSeq(string(code),
		func(r rune) bool { return strings.ContainsRune(";{}", r) }) {
		parts := strings.FieldsFunc(statement,
			func(r rune) bool { return strings.ContainsRune(" \t\r\n\f\x1a,.", r) })
		slices.Sort(parts)
		// White space between @ and the name of a guard, or around an operator, is not a
		// difference.
		joined := strings.Join(parts, "")
		runes := []rune(joined)
		slices.Sort(runes)
		out = append(out, string(runes))
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	return strings.Join(out, "\n")
}
