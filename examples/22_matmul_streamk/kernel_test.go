// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package streamk

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// TestStreamK holds the kernel in wide tiles, and in narrow ones.
func TestStreamK(t *testing.T) {
	exampletest.Check(t, "matmul_streamk", "sm_90a", func(m *dsl.Module) { Build(m, Wide) })
	exampletest.Check(t, "matmul_streamk_narrow", "sm_90a", func(m *dsl.Module) { Build(m, Narrow) })
}

// TestParts: every block has room for a tile, and a number for each of its two warpgroups.
func TestParts(t *testing.T) {
	if parts, told := Wide.Parts(3); parts != 3*128*256 || told != 6 {
		t.Errorf("%d and %d", parts, told)
	}
}
