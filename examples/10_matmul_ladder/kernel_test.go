// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX of every variant with a golden file, and checks and assembles it for
// every target.
func TestPTX(t *testing.T) {
	for _, v := range Variants() {
		for _, target := range v.Targets {
			m := dsl.New(v.Name+"."+target, target)
			v.Build(m)
			golden.Clean(t, m)
			if v.Name != "all versions" && (!strings.Contains(v.Name, ".") || target == "sm_120a") {
				golden.Check(t, m)
			}
			golden.Assemble(t, m)
		}
	}
}

// TestRun runs the kernels in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }
