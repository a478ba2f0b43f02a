// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package filetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
)

func finding(line, column int, rule, message string) diag.Diagnostic {
	return diag.Diagnostic{Place: diag.Place{Line: line, Column: column}, Rule: rule,
		Message: message}
}

const text = "one // want \"F101 first\"\n" +
	"two // want 5:\"second\" 9:`third \\d+`\r\n" +
	"three\n" +
	"/* want-1 \"fourth\" */\n" +
	"// I want a pony, not a test\n"

func TestCompare(t *testing.T) {
	first, second, third, fourth := finding(1, 3, "F101", "first"),
		finding(2, 5, "F1", "the second"), finding(2, 9, "F1", "third 3"),
		finding(3, 1, "F1", "fourth")
	for _, test := range []struct {
		name     string
		findings diag.List
		want     []string
	}{
		{"all met", diag.List{first, second, third, fourth}, nil},
		{"any order", diag.List{fourth, third, second, first}, nil},
		{"missing", diag.List{first, third, fourth},
			[]string{`line 2: want 5:"second": there is no such finding`}},
		{"wrong column", diag.List{first, finding(2, 6, "F1", "second"), third, fourth}, []string{
			"line 2, column 6: unexpected: F1 second",
			`line 2: want 5:"second": there is no such finding`}},
		{"wrong line", diag.List{finding(2, 3, "F101", "first"), second, third, fourth}, []string{
			"line 2, column 3: unexpected: F101 first",
			`line 1: want "F101 first": there is no such finding`}},
		{"one expectation, two findings", diag.List{first, first, second, third, fourth},
			[]string{"line 1, column 3: unexpected: F101 first"}},
		{"other rule", diag.List{finding(1, 3, "F102", "first"), second, third, fourth}, []string{
			"line 1, column 3: unexpected: F102 first",
			`line 1: want "F101 first": there is no such finding`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := filetest.Compare(text, test.findings)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMalformed(t *testing.T) {
	for _, text := range []string{"// want \"open", "// want \"(\"", "// want 3:`x` y",
		"// want \"\\z\""} {
		if _, err := filetest.Wants(text); err == nil ||
			!strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: error is %v", text, err)
		}
	}
}

func TestRun(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a.ptx", "b.ptx"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("bad // want 1:\"bad\"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	filetest.Run(t, filepath.Join(folder, "*.ptx"), func(string, string) diag.List {
		return diag.List{finding(1, 1, "F1", "bad")}
	})
}

// A recorder is a testing.TB that records a failure without failing the enclosing test.
type recorder struct {
	testing.TB
	failures int
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failures++ }

func TestCheckFails(t *testing.T) {
	r := &recorder{TB: t}
	filetest.Check(r, "x.ptx", text, nil)
	if r.failures != 4 {
		t.Errorf("%d failures for 4 unmet expectations", r.failures)
	}
}
