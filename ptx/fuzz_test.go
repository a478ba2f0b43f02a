// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// seeds adds real modules and unusual ones to the fuzz corpus.
func seeds(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"testdata/format/*.input", "testdata/format/*.golden"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	for _, odd := range []string{"", "\x00", "{", "}", "/*", "\"", "@", "add", ".entry k(",
		".reg .b32 %r<", "{{{{", "a:b:c:", "0f", ".section .x {"} {
		f.Add(odd)
	}
}

// FuzzParse checks that the positions of all nodes and findings are within the text.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		file, errs := ptx.Parse("fuzz", text)
		for _, n := range file.Decls {
			if n.Pos() < 0 || n.End() < n.Pos() || int(n.End()) > len(text) {
				t.Fatalf("%T from %d to %d of %d", n, n.Pos(), n.End(), len(text))
			}
		}
		for _, e := range errs {
			if e.Place.Line < 1 || e.Place.Column < 1 {
				t.Fatalf("finding at %s: %s", e.Place, e.Message)
			}
		}
	})
}

// FuzzFormat checks that a module without syntax errors can be formatted, keeps its comments and
// code, and that formatting is idempotent.
func FuzzFormat(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		got, errs := ptx.Format("fuzz", text)
		if errs.Errors() == 0 {
			checkFormat(t, text, got)
		}
	})
}
