// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it: all types for sm_80,
// and F64 for sm_90 too, which has larger shapes for it.
func TestPTX(t *testing.T) {
	verify := func(typ isa.Type, target string) {
		m := dsl.New("matmul"+name(typ)+"."+target, target)
		Build(m, typ, Default(typ))
		golden.Verify(t, m)
	}
	for _, typ := range Types {
		verify(typ, "sm_80")
	}
	verify(isa.F64, "sm_90")
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }
