// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestMultistage holds the kernel of every type.
func TestMultistage(t *testing.T) {
	for _, e := range []isa.Type{isa.F16, isa.Bf16, isa.Tf32, isa.S8, isa.U8, isa.S4, isa.U4, isa.B1, isa.F64} {
		exampletest.Check(t, "matmul"+name(e), "sm_80", func(m *dsl.Module) { Build(m, e, Default[e]) })
	}
}
