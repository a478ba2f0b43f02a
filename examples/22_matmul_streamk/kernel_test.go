// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package streamk

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it, in wide and in
// narrow tiles.
func TestPTX(t *testing.T) {
	for name, tiling := range map[string]Tiling{"matmul_streamk": Wide,
		"matmul_streamk_narrow": Narrow} {
		m := dsl.New(name+".sm_90a", "sm_90a")
		Build(m, tiling)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestParts checks that every block has memory for a tile, and a semaphore for each of its two
// warpgroups.
func TestParts(t *testing.T) {
	if partials, flags := Wide.Parts(3); partials != 3*128*256 || flags != 6 {
		t.Errorf("%d and %d", partials, flags)
	}
}
