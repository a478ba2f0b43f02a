// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	"github.com/ptxdsl/ptxdsl/internal/show"
	"github.com/ptxdsl/ptxdsl/isa"
)

func main() {
	word := flag.String("type", "bf16", "f32, f16 or bf16")
	hidden := flag.Int("hidden", 4096, "elements of a row")
	show.Main("rmsnorm", "sm_90", func(m *dsl.Module) {
		t, ok := isa.ParseType("." + *word)
		show.Want(ok && (t == isa.F32 || t == isa.F16 || t == isa.Bf16), "no RMSNorm of %q; f32, f16 and bf16 are known", *word)
		rmsnorm.Build(m, t, *hidden)
	}, rmsnorm.Check)
}
