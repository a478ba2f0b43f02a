// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
)

// TestHazards checks that a hazard is reported at the Go line that causes it, and that SkipHazards
// disables the analyzers.
func TestHazards(t *testing.T) {
	build := func(options ...dsl.Option) (diag.List, int) {
		m := dsl.New("m", "sm_90", options...)
		k := m.Kernel("k", dsl.Threads(128))
		parts := dsl.Shared[dsl.U32](k, "parts", 128)
		tid := k.TID().X
		k.Ins("cp.async.ca.shared.global", parts.At(tid).Addr(),
			dsl.Global[dsl.U32](k, "x").At(tid).Addr(), 4)
		k.Ins("cp.async.commit_group")
		_, _, line, _ := runtime.Caller(0)
		early := parts.Load(tid)
		k.Ins("cp.async.wait_group", 0)
		dsl.Global[dsl.U32](k, "y").Store(tid, early)
		_, list := m.Build()
		return list, line + 1
	}
	if list, _ := build(dsl.SkipHazards()); len(list) > 0 {
		t.Errorf("findings of a module that skips hazards: %v", list)
	}
	list, line := build()
	found := false
	for _, d := range list {
		found = found || d.Rule[0] == 'A' && d.Severity == diag.Error && d.Place.Line == line &&
			filepath.Base(d.Place.File) == "verify_test.go"
	}
	if !found {
		t.Errorf("no error of a copy at line %d: %v", line, list)
	}
	for _, build := range []func(*dsl.Module){gemm, promoted} {
		m := dsl.New("m", "sm_90a")
		build(m)
		if _, err := m.Text(); err != nil {
			t.Error(err)
		}
		_, list := m.Build()
		for _, d := range list {
			if d.Severity != diag.Note { // notes about what was not checked
				t.Errorf("a finding of a kernel that is right: %s %s", d.Rule, d.Message)
			}
		}
	}
}

// TestIgnored checks that a ptxdsl:ignore comment with a reason suppresses a finding at the next
// instruction, and is itself reported if there is none.
func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		comment string
		wait    bool
		want    []string
	}{
		{"", false, []string{"A12"}},
		{"ptxdsl:ignore A12 the kernel ahead writes other memory", false, nil},
		{"ptxdsl:ignore A12", false, []string{"A12", "V102"}},
		{"ptxdsl:ignore A12 the kernel ahead writes other memory", true, []string{"V103"}},
	} {
		m := dsl.New("m", "sm_90")
		k := m.Kernel("k", dsl.Threads(128))
		x, y := dsl.Global[dsl.U32](k, "x"), dsl.Global[dsl.U32](k, "y")
		if c.wait {
			k.WaitDependencies()
		}
		at := x.At(k.TID().X)
		if c.comment != "" {
			k.Comment("%s", c.comment)
		}
		weight := at.LoadFirst()
		if !c.wait {
			k.WaitDependencies()
		}
		y.Store(k.TID().X, weight)
		var rules []string
		for _, d := range m.Findings() {
			rules = append(rules, d.Rule)
		}
		slices.Sort(rules)
		if diff := cmp.Diff(c.want, rules); diff != "" {
			t.Errorf("%q, wait ahead %v:\n%s", c.comment, c.wait, diff)
		}
	}
}
