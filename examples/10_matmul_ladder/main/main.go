// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	ladder "github.com/ptxdsl/ptxdsl/examples/10_matmul_ladder"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	version := kernelcmd.Number("version", "cp.async, TMA, or warp-specialised, the latter two from sm_90 on", 0, 1, 2)
	swizzle := kernelcmd.Number("swizzle", "bytes of the swizzle, as deep as which a tile is", 128, 64, 32)
	kernelcmd.Main("matmul_ladder", "sm_120a", func(m *dsl.Module) {
		t := ladder.Default
		t.Swizzle = dsl.Swizzle(*swizzle)
		t.K = *swizzle / 2
		ladder.Versions()[*version](m, t)
	}, ladder.Check)
}
