// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it: BF16 for every
// target, and all types in two lengths for one.
func TestPTX(t *testing.T) {
	verify := func(typ isa.Type, hidden int, target string) {
		m := dsl.New(fmt.Sprintf("rmsnorm_%s_%d.%s", strings.TrimPrefix(typ.String(), "."), hidden,
			target), target)
		Build(m, typ, hidden)
		golden.Verify(t, m)
	}
	for _, target := range Targets {
		verify(isa.Bf16, 4096, target)
	}
	for _, typ := range []isa.Type{isa.F32, isa.F16, isa.Bf16} {
		verify(typ, 1024, "sm_90")
		verify(typ, 8192, "sm_90")
	}
}

// TestRun runs the kernel in the emulator and compares the results with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }
