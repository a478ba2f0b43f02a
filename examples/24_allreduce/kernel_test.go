// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// TestPTX compares the PTX with the golden files, and checks and assembles it.
func TestPTX(t *testing.T) {
	for _, typ := range Types {
		m := dsl.New(Name(typ)+".sm_90", "sm_90")
		Build(m, typ)
		golden.Verify(t, m)
	}
}

// TestRun runs the kernels on emulated devices and compares the sums with the reference.
func TestRun(t *testing.T) { kerneltest.Run(t, Check, Targets...).Tight(t, 4) }
