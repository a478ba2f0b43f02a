// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
)

// TestVerify: a hazard is a finding at the line of Go that made it, for who asks.
func TestVerify(t *testing.T) {
	build := func(options ...dsl.Option) (diag.List, int) {
		m := dsl.New("m", "sm_90", options...)
		k := m.Kernel("k", dsl.Threads(128))
		parts := dsl.Shared[dsl.U32](k, "parts", 128)
		tid := k.TID().X
		k.Ins("cp.async.ca.shared.global", parts.At(tid).Addr(), dsl.Global[dsl.U32](k, "x").At(tid).Addr(), 4)
		k.Ins("cp.async.commit_group")
		_, _, line, _ := runtime.Caller(0)
		early := parts.Load(tid)
		k.Ins("cp.async.wait_group", 0)
		dsl.Global[dsl.U32](k, "y").Store(tid, early)
		_, list := m.Build()
		return list, line + 1
	}
	if list, _ := build(); len(list) > 0 {
		t.Errorf("findings of a module that asks for none: %v", list)
	}
	list, line := build(dsl.Verify())
	found := false
	for _, d := range list {
		found = found || d.Rule[0] == 'A' && d.Severity == diag.Error && d.Place.Line == line && filepath.Base(d.Place.File) == "verify_test.go"
	}
	if !found {
		t.Errorf("no error of a copy at line %d: %v", line, list)
	}
	for _, build := range []func(*dsl.Module){gemm, promoted} {
		m := dsl.New("m", "sm_90a", dsl.Verify())
		build(m)
		if _, err := m.Text(); err != nil {
			t.Error(err)
		}
		_, list := m.Build()
		for _, d := range list {
			if d.Severity != diag.Note { // of what was not looked at
				t.Errorf("a finding of a kernel that is right: %s %s", d.Rule, d.Message)
			}
		}
	}
}
