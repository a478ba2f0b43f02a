// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// FuzzRun checks that no module makes the analyzers panic.
func FuzzRun(f *testing.F) {
	names, err := filepath.Glob("../zoo/testdata/*/*.bad.ptx")
	if err != nil || len(names) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, _ := ptxdsl.Load("fuzz.ptx", text)
		if m == nil {
			return
		}
		suite.Run(m, verify.Options{Limits: trace.Limits{Steps: 20_000, Traces: 20}})
	})
}
