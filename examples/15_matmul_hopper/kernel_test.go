// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hopper

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// TestHopper holds the kernel with and without a cluster.
func TestHopper(t *testing.T) {
	exampletest.Check(t, "matmul", "sm_90a", func(m *dsl.Module) { Build(m, Default) })
	single := Default
	single.Cluster = 1
	exampletest.Check(t, "matmul_single", "sm_90a", func(m *dsl.Module) { Build(m, single) })
}
