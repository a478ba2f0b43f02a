// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// FuzzRun wants no module to break the analyzers, whatever it does.
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
		file, faults := ptx.Parse("fuzz.ptx", text)
		if append(faults, form.Check(file, form.Options{})...).Errors() > 0 {
			return
		}
		m, faults := lift.Module(file)
		if faults.Errors() > 0 {
			return
		}
		suite.Run(m, verify.Options{Limits: trace.Limits{Steps: 20_000, Traces: 20}})
	})
}
