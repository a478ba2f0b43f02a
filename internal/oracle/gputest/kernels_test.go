// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"path/filepath"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

// TestKernels checks that the kernels assemble, and that the spoiled one does not.
func TestKernels(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		module interface{ Text() (string, error) }
		good   bool
	}{{kernels("sm_90a"), true}, {kernels("sm_80"), true}, {invalidStore("sm_90a"), true},
		{brokenModule{invalidStore("sm_90a")}, false}} {
		text, err := test.module.Text()
		if err != nil {
			t.Fatal(err)
		}
		_, verdict, err := tool.Assemble(t.Context(), text, ptxas.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if verdict.OK() != test.good {
			t.Errorf("%s\n%s", verdict, text)
		}
	}
}

// TestFeatures checks that the kernels of features assemble and have no hazards.
func TestFeatures(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	for i, build := range []func(*dsl.Module){scans, vectors, matrices, bulk, chunks, boxes, chain,
		transposedWarpgroups().build, computedOperand().build, sparseOperand().build,
		widenedWeights, gatheredRows,
		func(m *dsl.Module) { dynamic(m, 4) }, func(m *dsl.Module) { dynamic(m, 13_000) }} {
		m := dsl.New("features", "sm_90a")
		build(m)
		_, list := m.Build()
		for _, d := range list {
			if d.Severity != diag.Note { // notes name what is not checked
				t.Errorf("kernel %d: %s: %s: %s", i, d.Place, d.Rule, d.Message)
			}
		}
		text, err := m.Text()
		if err != nil {
			continue
		}
		if _, verdict, err := tool.Assemble(t.Context(), text, ptxas.Options{}); err != nil ||
			!verdict.OK() {
			t.Errorf("kernel %d: %v %s\n%s", i, err, verdict, text)
		}
	}
}

// TestExamples checks that every example with a check is listed, and that names are unique.
func TestExamples(t *testing.T) {
	names := make(map[string]bool)
	for _, c := range All() {
		name := c.Group + "/" + c.Name
		if names[name] {
			t.Errorf("two checks are called %s", name)
		}
		names[name] = true
	}
	files, err := filepath.Glob("../../../examples/*/check.go")
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if name := filepath.Base(filepath.Dir(f)); !names["examples/"+name] {
			t.Errorf("%s is not among the checks", name)
		}
	}
}
