// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package grouped

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// TestGrouped holds the kernel for experts with many rows, and with few.
func TestGrouped(t *testing.T) {
	exampletest.Check(t, "matmul_grouped", "sm_90a", func(m *dsl.Module) { Build(m, Large) })
	exampletest.Check(t, "matmul_grouped_small", "sm_90a", func(m *dsl.Module) { Build(m, Small) })
}

// TestStarts: an expert without rows starts where the next one does.
func TestStarts(t *testing.T) {
	if diff := cmp.Diff([]uint32{0, 3, 3, 7}, Starts([]int{3, 0, 4})); diff != "" {
		t.Error(diff)
	}
}
