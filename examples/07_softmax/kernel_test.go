// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package softmax

import (
	"fmt"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Test holds the kernel for every target in F32, and for every type and some lengths of a row on one.
func Test(t *testing.T) {
	check := func(e isa.Type, cols int, target string) {
		exampletest.Check(t, fmt.Sprintf("softmax_%s_%d", e.String()[1:], cols), target, func(m *dsl.Module) { Build(m, e, cols) })
	}
	for _, target := range []string{"sm_80", "sm_90", "sm_100", "sm_120"} {
		check(isa.F32, 4096, target)
	}
	for _, e := range []isa.Type{isa.F16, isa.Bf16} {
		check(e, 1024, "sm_90")
		check(e, 32768, "sm_90")
	}
}
