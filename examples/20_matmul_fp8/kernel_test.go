// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package fp8

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// Test holds the kernel.
func Test(t *testing.T) { exampletest.Targets(t, "matmul_fp8", Build, "sm_90a") }

// TestSizes: factors are counted for whole tiles, and sizes that the kernel does not take are refused before it runs.
func TestSizes(t *testing.T) {
	if a, b := Factors(129, 272); a != 3*256 || b != 2*3 {
		t.Error(a, b)
	}
	for _, wrong := range [][2]int{{3, 16}, {2, 8}} {
		if Takes(wrong[0], wrong[1]) == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
	if err := Takes(2, 16); err != nil {
		t.Error(err)
	}
}
