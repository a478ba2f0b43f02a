// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it: without clusters,
// with clusters, and in tiles for smaller matrices.
func TestPTX(t *testing.T) {
	clustered := Default
	clustered.Cluster = 2
	for _, c := range []struct {
		name   string
		tiling Tiling
	}{{"matmul", Default}, {"matmul_cluster", clustered}, {"matmul_192", For(3072, 3072, 132)}} {
		m := dsl.New(c.name+".sm_90a", "sm_90a")
		Build(m, c.tiling)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestFor checks that tiles are narrow where wide ones would leave most multiprocessors idle.
func TestFor(t *testing.T) {
	for _, c := range []struct{ m, n, want int }{
		{8192, 8192, 256}, {4096, 4096, 256}, {3072, 3072, 192}, {2048, 2048, 256},
		{1024, 1024, 64}, {1, 8, 64},
	} {
		if got := For(c.m, c.n, 132).N; got != c.want {
			t.Errorf("%d x %d: tiles of %d columns, not %d", c.m, c.n, got, c.want)
		}
	}
}
