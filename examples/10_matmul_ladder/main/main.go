// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	ladder "github.com/ptxdsl/ptxdsl/examples/10_matmul_ladder"
	"github.com/ptxdsl/ptxdsl/internal/show"
)

func main() {
	version := flag.Int("version", 0, "0 (cp.async), 1 (TMA) or 2 (warp-specialised); 1 and 2 need sm_90 or later")
	swizzle := flag.Int("swizzle", 128, "bytes of the swizzle: 32, 64 or 128; a tile is as deep as it is wide")
	show.Main("matmul_ladder", "sm_120a", func(m *dsl.Module) {
		show.Want(*version >= 0 && *version < len(ladder.Versions()), "no version %d", *version)
		t := ladder.Default
		t.Swizzle = dsl.Swizzle(*swizzle)
		t.K = *swizzle / 2
		ladder.Versions()[*version](m, t)
	}, ladder.Check)
}
