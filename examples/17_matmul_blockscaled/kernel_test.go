// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
)

// TestBlockScaled holds the kernel of every format, on one multiprocessor and on two.
func TestBlockScaled(t *testing.T) {
	for _, f := range Formats {
		exampletest.Check(t, f.Name, "sm_100a", func(m *dsl.Module) { Build(m, f, Default) })
		exampletest.Check(t, f.Name+"_pair", "sm_100a", func(m *dsl.Module) { Build(m, f, Pair) })
	}
}
