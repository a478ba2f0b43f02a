// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package fp8

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it.
func TestPTX(t *testing.T) {
	for _, target := range Targets {
		m := dsl.New("matmul_fp8."+target, target)
		Build(m)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }

// TestSizes checks that scale factors are counted for whole tiles, and that unsupported sizes are
// rejected.
func TestSizes(t *testing.T) {
	if a, b := Factors(129, 272); a != 3*256 || b != 2*3 {
		t.Error(a, b)
	}
	for _, wrong := range [][2]int{{3, 16}, {2, 8}} {
		if Takes(wrong[0], wrong[1]) == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
	if err := Takes(2, 16); err != nil {
		t.Error(err)
	}
}
