// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm80

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
)

func TestGEMM(t *testing.T) {
	for _, target := range []string{"sm_80", "sm_120"} {
		t.Run(target, func(t *testing.T) {
			m := dsl.New("gemm."+target, target)
			Build(m)
			golden.Clean(t, m)
			golden.Check(t, m)
		})
	}
}
