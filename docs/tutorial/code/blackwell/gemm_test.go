// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
)

func TestGEMM(t *testing.T) {
	m := dsl.New("gemm", "sm_100a")
	Build(m)
	golden.Clean(t, m)
	golden.Check(t, m)
}
