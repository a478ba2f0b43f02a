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
	for _, target := range []string{"sm_100a", "sm_103a"} {
		exampletest.Check(t, "matmul", target, func(m *dsl.Module) { Build(m, Default) })
		dynamic := Default
		dynamic.Dynamic = true
		exampletest.Check(t, "matmul_dynamic", target, func(m *dsl.Module) { Build(m, dynamic) })
	}
}
