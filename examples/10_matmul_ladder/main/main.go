// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	ladder "github.com/ptxdsl/ptxdsl/examples/10_matmul_ladder"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	version := kernelcmd.Number("version",
		"cp.async, TMA, warp-specialized, persistent, or persistent with shared tiles, all but the first from sm_90 on",
		0, 1, 2, 3, 4)
	typ := kernelcmd.OneOf("type", "type of the elements of A and B", isa.Type.String,
		ladder.Types...)
	swizzle := kernelcmd.Number("swizzle", "bytes of the swizzle, as deep as which a tile is", 128,
		64, 32)
	kernelcmd.Main("matmul_ladder", "sm_120a", func(m *dsl.Module) {
		t, build := ladder.Default, ladder.V3
		switch *version {
		case 3:
			t = ladder.Persistent
			// two pipelines of 128 bytes exceed the shared memory of sm_120
			*swizzle = min(*swizzle, 64)
		case 4:
			t, build = ladder.Deep, ladder.V4
			*swizzle = min(*swizzle, 64) // so do four stages
		default:
			build = ladder.Versions()[*version]
		}
		t.Type = *typ
		build(m, t.Swizzled(dsl.Swizzle(*swizzle)))
	}, ladder.Check)
}
