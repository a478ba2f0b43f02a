// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package splitk

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// Test holds the kernel for its targets.
func Test(t *testing.T) {
	exampletest.Targets(t, "splitk", func(m *dsl.Module) { Build(m, Default) }, "sm_90", "sm_100")
}

// TestBlocks: sums are split where there are fewer tiles than multiprocessors, and into parts that are worth it.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ m, n, k, x, y int }{
		{128, 128, 65536, 1, 132}, {128, 128, 64, 1, 1}, {512, 512, 65536, 16, 8}, {8192, 8192, 65536, 4096, 1}, {1, 4, 1024, 1, 4},
	} {
		if x, y := Default.Blocks(c.m, c.n, c.k, 132); x != c.x || y != c.y {
			t.Errorf("%+v: %d x %d blocks", c, x, y)
		}
	}
}
