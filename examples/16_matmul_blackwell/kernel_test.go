// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX of every variant with a golden file, and checks and assembles it for
// every target.
func TestPTX(t *testing.T) {
	for _, v := range Variants() {
		for i, target := range v.Targets {
			m := dsl.New(v.Name+"."+target, target)
			v.Build(m)
			if golden.Clean(t, m); i == 0 || v.Name == "bf16" {
				golden.Check(t, m)
			}
			golden.Assemble(t, m)
		}
	}
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }
