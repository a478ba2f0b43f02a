// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package rmsnorm

import (
	"fmt"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Test holds the kernel for every target in bfloat16, and for every type and way of sharing a row on one.
func Test(t *testing.T) {
	check := func(e isa.Type, hidden int, target string) {
		exampletest.Check(t, fmt.Sprintf("rmsnorm_%s_%d", e.String()[1:], hidden), target, func(m *dsl.Module) { Build(m, e, hidden) })
	}
	for _, target := range Targets {
		check(isa.Bf16, 4096, target)
	}
	for _, e := range []isa.Type{isa.F32, isa.F16, isa.Bf16} {
		for _, hidden := range []int{1024, 8192} {
			check(e, hidden, "sm_90")
		}
	}
}
