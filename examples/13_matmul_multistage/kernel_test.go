// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package multistage

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// TestMultistage holds the kernel of every type.
func TestMultistage(t *testing.T) {
	for _, e := range Types {
		exampletest.Check(t, "matmul"+name(e), "sm_80", func(m *dsl.Module) { Build(m, e, Default(e)) })
	}
}
