// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestOrder checks that findings do not depend on the order of the list of analyzers. Only the
// parts of the notes that list what was not checked are in its order.
func TestOrder(t *testing.T) {
	files, err := filepath.Glob("testdata/twins/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	reversed, shuffled := suite.List(), suite.List()
	slices.Reverse(reversed)
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := suite.Run(module(t, name, string(text)), verify.Options{})
		noted := func(d diag.Diagnostic) bool { return d.Severity == diag.Note }
		found := slices.DeleteFunc(want.Findings, noted)
		random.Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		for _, list := range [][]*verify.Analyzer{reversed, shuffled} {
			got := verify.Run(module(t, name, string(text)), list, verify.Options{})
			again := slices.DeleteFunc(got.Findings, noted)
			if d := cmp.Diff(found, again); d != "" {
				t.Errorf("%s: findings in another order of analyzers, from %s (-list +other):\n%s",
					name, list[0].Name, d)
			}
		}
	}
}

// TestSubsumes checks that an analyzer asks only for rules that analyzers report.
func TestSubsumes(t *testing.T) {
	reported := make(map[string]bool)
	for _, a := range suite.List() {
		for _, r := range a.Rules {
			reported[r.ID] = true
		}
	}
	asked := 0
	for _, a := range suite.List() {
		for _, s := range a.Subsumes {
			for _, r := range slices.Concat(s.Errors, s.Findings) {
				if asked++; !reported[r.ID] {
					t.Errorf("%s asks for rule %s, which no analyzer reports", a.Name, r.ID)
				}
			}
		}
	}
	if asked == 0 {
		t.Error("no analyzer subsumes findings")
	}
}
