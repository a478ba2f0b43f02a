// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"fmt"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it: every version for every
// target, and every swizzle for one.
func TestPTX(t *testing.T) {
	for _, target := range Targets {
		for version, build := range Versions() {
			for _, s := range []dsl.Swizzle{dsl.Swizzle32, dsl.Swizzle64, dsl.Swizzle128} {
				if version > 0 && target == "sm_80" || target != "sm_120a" && s != dsl.Swizzle128 {
					continue
				}
				name := fmt.Sprintf("v%d", version)
				if s != dsl.Swizzle128 {
					name += fmt.Sprintf(".swizzle%d", s)
				}
				tiling := Default
				tiling.Swizzle, tiling.K = s, int(s)/2
				m := dsl.New(name+"."+target, target)
				build(m, tiling)
				golden.Verify(t, m)
			}
		}
	}
}

// TestRun runs the kernels in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }
