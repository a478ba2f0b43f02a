// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package moe

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden file, and checks and assembles it.
func TestPTX(t *testing.T) {
	m := dsl.New("moe_swiglu.sm_90a", "sm_90a")
	Build(m)
	golden.Verify(t, m)
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }
