// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	multistage "github.com/ptxdsl/ptxdsl/examples/13_matmul_multistage"
	"github.com/ptxdsl/ptxdsl/internal/show"
	"github.com/ptxdsl/ptxdsl/isa"
)

func main() {
	word := flag.String("type", "f16", "f16, bf16, tf32, s8, u8, s4, u4, b1 or f64")
	show.Main("matmul_multistage", "sm_80", func(m *dsl.Module) {
		t, _ := isa.ParseType("." + *word)
		tiling, ok := multistage.Default[t]
		show.Want(ok, "no multiplication of %q; f16, bf16, tf32, s8, u8, s4, u4, b1 and f64 are known", *word)
		multistage.Build(m, t, tiling)
	}, multistage.Check)
}
