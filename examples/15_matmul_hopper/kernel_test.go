// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// TestHopper holds the kernel alone, in clusters, and in tiles for smaller matrices.
func TestHopper(t *testing.T) {
	exampletest.Check(t, "matmul", "sm_90a", func(m *dsl.Module) { Build(m, Default) })
	clustered := Default
	clustered.Cluster = 2
	exampletest.Check(t, "matmul_cluster", "sm_90a", func(m *dsl.Module) { Build(m, clustered) })
	exampletest.Check(t, "matmul_192", "sm_90a", func(m *dsl.Module) { Build(m, For(3072, 3072, 132)) })
}

// TestFor: tiles are narrow where wide ones would leave most of the machine without work.
func TestFor(t *testing.T) {
	for _, c := range []struct{ m, n, want int }{
		{8192, 8192, 256}, {4096, 4096, 256}, {3072, 3072, 192}, {2048, 2048, 256}, {1024, 1024, 64}, {1, 8, 64},
	} {
		if got := For(c.m, c.n, 132).N; got != c.want {
			t.Errorf("%d x %d: tiles of %d columns, not %d", c.m, c.n, got, c.want)
		}
	}
}
