// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tma

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
)

func TestScale(t *testing.T) {
	m := dsl.New("scale", "sm_90")
	Build(m)
	golden.Clean(t, m)
	golden.Check(t, m)
}
