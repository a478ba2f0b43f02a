// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestParserAgain parses modules of all kinds, including invalid ones, one after another in the
// same memory. The results must equal those in new memory.
func TestParserAgain(t *testing.T) {
	var texts []string
	for _, pattern := range []string{"testdata/*/*", "testdata/fuzz/*/*",
		"../form/testdata/*/*.ptx", "../examples/*/testdata/*.ptx"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil {
				texts = append(texts, string(text))
			}
		}
	}
	if len(texts) < 300 {
		t.Fatal("only", len(texts), "modules")
	}
	texts = append(texts, generate(200_000), "")

	var p ptx.Parser
	same := cmp.Options{cmpopts.IgnoreUnexported(ptx.File{}), cmpopts.EquateEmpty()}
	for i := range len(texts) {
		text := texts[(i*i+i)/2%len(texts)] // in a varying order
		want, wantErrs := ptx.Parse("module", text)
		got, gotErrs := p.Parse("module", text)
		if len(text) < 10_000 { // for large modules the printed text is compared instead
			if d := cmp.Diff(want, got, same...); d != "" {
				t.Fatalf("%s\n%s", text, d)
			}
		}
		if d := cmp.Diff(wantErrs, gotErrs); d != "" {
			t.Fatalf("%s\n%s", text, d)
		}
		wantText, _ := ptx.Format("module", text)
		if gotText, _ := p.Format("module", text); gotText != wantText {
			t.Fatalf("printed otherwise:\n%s", cmp.Diff(wantText, gotText))
		}
	}
}
