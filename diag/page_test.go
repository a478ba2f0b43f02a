// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/diag"
)

const page = "# X1: wrong thing\n\nReports it.\n\nAlways.\n\n## Wrong\n\n```ptx\nret;\n\nexit;\n```\n\n## Manual\n\n9.1 ret\n"

func TestWithPages(t *testing.T) {
	files := fstest.MapFS{"rules/X1.md": {Data: []byte(page)}}
	got := diag.Rules{{ID: "X1", Layer: "x", Severity: diag.Review}}.WithPages(files)
	want := diag.Rules{{ID: "X1", Layer: "x", Severity: diag.Review, Title: "wrong thing",
		What: "Reports it.\n\nAlways.", Wrong: "ret;\n\nexit;", Section: "9.1 ret"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestWithPagesPanics(t *testing.T) {
	for want, text := range map[string]string{
		"not a heading":                     "# X2: another rule\n",
		`unknown or repeated section "How"`: page + "\n## How\n\nSo.\n",
		`repeated section "Manual"`:         page + "\n## Manual\n\n9.2\n",
		"file does not exist":               "",
	} {
		t.Run(want, func(t *testing.T) {
			files := fstest.MapFS{}
			if text != "" {
				files["rules/X1.md"] = &fstest.MapFile{Data: []byte(text)}
			}
			defer func() {
				if message, _ := recover().(string); !strings.HasPrefix(message, "bug: ") ||
					!strings.Contains(message, want) {
					t.Errorf("panic %q, want %q", message, want)
				}
			}()
			diag.Rules{{ID: "X1"}}.WithPages(files)
		})
	}
}
