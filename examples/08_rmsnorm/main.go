// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 08_rmsnorm normalises the rows of a matrix by their root mean square, in one pass.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/show"
	"github.com/ptxdsl/ptxdsl/isa"
)

func main() {
	word := flag.String("type", "bf16", "f32, f16 or bf16")
	hidden := flag.Int("hidden", 4096, "elements of a row")
	show.Main("rmsnorm", "sm_90", func(m *dsl.Module) {
		t, _ := isa.ParseType("." + *word)
		Build(m, t, *hidden)
	})
}
