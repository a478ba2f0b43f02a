// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestMultistage holds the kernel of every type, and that of F64 in the shapes that came with sm_90.
func TestMultistage(t *testing.T) {
	for _, e := range Types {
		exampletest.Check(t, "matmul"+name(e), "sm_80", func(m *dsl.Module) { Build(m, e, Default(e)) })
	}
	exampletest.Check(t, "matmul_f64", "sm_90", func(m *dsl.Module) { Build(m, isa.F64, Default(isa.F64)) })
}
