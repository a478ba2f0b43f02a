// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package hazardtest tests a hazard analyzer with files whose comments contain the expected
// findings; see package filetest.
package hazardtest

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/filetest"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Run runs an analyzer on every file of testdata. The files must pass the form checks. Every rule
// of the analyzer must occur in some file, except the rules in except, which no PTX can violate.
// Findings in a file review.ptx must be reviews.
func Run(t *testing.T, a *verify.Analyzer, except ...string) {
	t.Helper()
	found := make(map[string]bool)
	rules := make(map[string]bool)
	for _, r := range a.Rules {
		rules[r.ID] = true
	}
	var lock sync.Mutex
	t.Run("files", func(t *testing.T) {
		filetest.Run(t, "testdata/*.ptx", func(name, text string) diag.List {
			m, list := ptxdsl.Load(name, text)
			if len(list) > 0 {
				return list // notes are not expected
			}
			list = verify.Run(m, []*verify.Analyzer{a}, verify.Options{}).Findings
			// notes do not need an expectation
			list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Rule == "V101" })
			for _, d := range list {
				if filepath.Base(name) == "review.ptx" && d.Severity != diag.Review {
					t.Errorf("%s is %s, expected a review", d.Rule, d.Severity)
				}
			}
			lock.Lock()
			defer lock.Unlock()
			for _, d := range list {
				found[d.Rule] = true
			}
			return list
		})
	})
	for _, id := range except {
		found[id] = true
	}
	for id := range rules {
		if !found[id] {
			t.Errorf("no file of testdata breaks %s", id)
		}
	}
}
