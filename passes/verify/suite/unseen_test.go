// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

var update = flag.Bool("update", false, "rewrite testdata/unseen.md")

// TestUnseen checks kernels with one bug each that were not used to develop the rules, and compares
// the verdicts with a table. No verdict may be clean.
func TestUnseen(t *testing.T) {
	names, err := filepath.Glob("testdata/unseen/*.ptx")
	if err != nil || len(names) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	var rows strings.Builder
	count := make(map[verify.Verdict]int)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := suite.Run(module(t, name, string(text)), verify.Options{})
		verdict := r.Kernels[0].Verdict
		count[verdict]++
		var rules []string
		for _, d := range r.Findings {
			if d.Severity <= diag.Review && !slices.Contains(rules, d.Rule) {
				rules = append(rules, d.Rule)
			}
		}
		if verdict == verify.Clean {
			t.Errorf("%s: called clean", name)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		class, what, _ := strings.Cut(strings.TrimPrefix(first, "// "), ": ")
		fmt.Fprintf(&rows, "| %s | %s | %v %s |\n", class, what, verdict, strings.Join(rules, " "))
	}
	table := fmt.Sprintf("# Kernels with a bug, in testdata/unseen\n\n"+
		"Of %d kernels %d are errors, %d reviews and %d incomplete.\n\n"+
		"| class | bug | verdict |\n|---|---|---|\n%s", len(names), count[verify.Error],
		count[verify.Review], count[verify.Incomplete], rows.String())
	const golden = "testdata/unseen.md"
	if *update {
		if err := os.WriteFile(golden, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(old), table); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", golden, diff)
	}
}
