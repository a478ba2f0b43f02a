// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// TestLadder holds every version of the ladder for its targets and swizzles.
func TestLadder(t *testing.T) {
	for _, target := range []string{"sm_80", "sm_90", "sm_120a"} {
		for i, version := range []string{"v0", "v1", "v2"} {
			for _, s := range []dsl.Swizzle{dsl.Swizzle32, dsl.Swizzle64, dsl.Swizzle128} {
				if i > 0 && target == "sm_80" || target != "sm_120a" && s != dsl.Swizzle128 {
					continue
				}
				tiling := Default
				tiling.Swizzle, tiling.K = s, int(s)/2
				exampletest.Check(t, version+map[dsl.Swizzle]string{32: ".swizzle32", 64: ".swizzle64"}[s], target, func(m *dsl.Module) { Versions()[i](m, tiling) })
			}
		}
	}
}
