// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package stencil

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
)

func TestSmooth(t *testing.T) {
	m := dsl.New("smooth", "sm_80")
	Build(m)
	golden.Clean(t, m)
	golden.Check(t, m)
}
