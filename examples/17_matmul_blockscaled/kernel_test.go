// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"strings"
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

// TestTiling: tiles that scale factors do not come for are refused.
func TestTiling(t *testing.T) {
	m := dsl.New("m", "sm_100a")
	Build(m, Formats[0], Tiling{N: 192, Stages: 2, Group: 8})
	if _, err := m.Text(); err == nil || !strings.Contains(err.Error(), "a multiple of 128 is expected") {
		t.Error(err)
	}
}
