// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package filetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	beforeLine = "-- before --\n"
	afterLine  = "-- after --\n"
)

// Rewrite tests a function do that transforms text. Each file that matches a pattern has a
// comment, the line "-- before --", an input text, the line "-- after --", and the expected
// output. If update is set, the expected output is rewritten. do receives the name of the file's
// directory.
func Rewrite(t *testing.T, pattern string, update bool,
	do func(t *testing.T, folder, before string) string) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatalf("no files match %s", pattern)
	}
	for _, name := range names {
		folder := filepath.Base(filepath.Dir(name))
		t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)),
			func(t *testing.T) {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				head, rest, ok := strings.Cut(string(data), beforeLine)
				if !ok {
					t.Fatalf("%s: no line %q", name, beforeLine)
				}
				before, want, _ := strings.Cut(rest, afterLine)
				got := do(t, folder, before)
				if update {
					if err := os.WriteFile(name, []byte(head+beforeLine+before+afterLine+got),
						0o600); err != nil {
						t.Fatal(err)
					}
					return
				}
				if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			})
	}
}
