// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package exampletest holds the kernels of the examples: against their golden files, the form checks and the real assembler.
package exampletest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// Targets checks a module for several targets.
func Targets(t *testing.T, name string, build func(*dsl.Module), targets ...string) {
	t.Helper()
	for _, target := range targets {
		Check(t, name, target, build)
	}
}

// Check builds a module twice, compares it with its golden file, and wants it to pass the form checks and to assemble.
func Check(t *testing.T, name, target string, build func(*dsl.Module)) {
	t.Helper()
	make := func() (*dsl.Module, string) {
		m := dsl.New(name+"."+target, target)
		build(m)
		text, err := m.Text()
		if err != nil {
			t.Fatalf("%s for %s:\n%v", name, target, err)
		}
		return m, text
	}
	m, text := make()
	if _, again := make(); again != text {
		t.Errorf("%s for %s: built twice, two texts", name, target)
	}
	golden.Clean(t, m)
	golden.Check(t, m)
	// The order of declarations does not count in golden; here files are as they are written, so that -update changes nothing.
	if kept, err := os.ReadFile(filepath.Join("testdata", name+"."+target+".ptx")); err != nil {
		t.Error(err)
	} else if !t.Failed() && string(kept) != text {
		t.Errorf("%s for %s: its golden file says the same in other words; go test -update", name, target)
	}
	f, list := ptx.Parse(name, text)
	for _, d := range append(list, form.Check(f, form.Options{Whole: true})...) {
		t.Errorf("%s for %s: line %d: %s: %s", name, target, d.Place.Line, d.Rule, d.Message)
	}
	if formatted, _ := ptx.Format(name, text); formatted != text {
		t.Errorf("%s for %s: formatting changes it", name, target)
	}
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	_, verdict, err := tool.Assemble(t.Context(), text, ptxas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !verdict.OK() {
		t.Errorf("%s for %s: ptxas: %s", name, target, verdict)
	}
}
