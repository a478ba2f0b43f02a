// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package grouped

import (
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it: for experts with
// many rows, and with few.
func TestPTX(t *testing.T) {
	for name, tiling := range map[string]Tiling{"matmul_grouped": Large,
		"matmul_grouped_small": Small} {
		m := dsl.New(name+".sm_90a", "sm_90a")
		Build(m, tiling)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestStarts checks that an expert without rows starts where the next one does.
func TestStarts(t *testing.T) {
	if got := Starts([]int{3, 0, 4}); !slices.Equal(got, []uint32{0, 3, 3, 7}) {
		t.Errorf("got %v", got)
	}
}
