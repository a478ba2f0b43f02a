// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package splitk

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it.
func TestPTX(t *testing.T) {
	for _, target := range Targets {
		m := dsl.New("splitk."+target, target)
		Build(m, Default)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestBlocks checks that K is split if there are fewer tiles than multiprocessors, and into parts
// that are not too small.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ m, n, k, x, y int }{
		{128, 128, 65536, 1, 132}, {128, 128, 64, 1, 1}, {512, 512, 65536, 16, 8},
		{8192, 8192, 65536, 4096, 1}, {1, 4, 1024, 1, 4},
	} {
		if x, y := Default.Blocks(c.m, c.n, c.k, 132); x != c.x || y != c.y {
			t.Errorf("%+v: %d x %d blocks", c, x, y)
		}
	}
}
