// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// TestBlackwell holds the kernel for the family of sm_100.
func TestBlackwell(t *testing.T) {
	dynamic := Default
	dynamic.Dynamic = true
	exampletest.Targets(t, "matmul", func(m *dsl.Module) { Build(m, Default) }, "sm_100a", "sm_103a")
	exampletest.Targets(t, "matmul_dynamic", func(m *dsl.Module) { Build(m, dynamic) }, "sm_100a", "sm_103a")
}
