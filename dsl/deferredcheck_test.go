// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// TestIterations checks that a mistake in a Go loop is reported once, and that a long loop does not
// use up the limit for later checks.
func TestIterations(t *testing.T) {
	const iterations = 3000
	m := dsl.New("m", "sm_90")
	k := m.Kernel("k", dsl.Threads(256))
	s := dsl.Shared[dsl.F32](k, "s", 256)
	for range iterations {
		s.Store(k.TID().X.AddI(1), k.F32(1))
	}
	for range iterations {
		s.Store(k.TID().X, k.F32(1))
	}
	s.Store(k.TID().X.AddI(2), k.F32(1))
	_, list := m.Build()
	var lines []int
	for _, d := range list {
		lines = append(lines, d.Place.Line)
	}
	if len(lines) != 2 || lines[0]+5 != lines[1] {
		t.Errorf("findings at lines %d; the first store and the last are wrong:\n%v", lines, list)
	}
}
