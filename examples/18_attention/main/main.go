// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	t := kernelcmd.Type(isa.Bf16, isa.F16)
	width := flag.Int("width", 128, "numbers of a row of a head: 64 or 128")
	causal := flag.Bool("causal", false, "queries see the keys up to their own")
	kernelcmd.Main("attention", "sm_80", func(m *dsl.Module) {
		build := attention.Build
		if m.Is("sm_90a") {
			build = attention.BuildHopper
		}
		build(m, attention.Shape{Type: *t, Width: *width, Causal: *causal})
	}, attention.Check)
}
