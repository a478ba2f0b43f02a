// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	softmax "github.com/ptxdsl/ptxdsl/examples/07_softmax"
	"github.com/ptxdsl/ptxdsl/internal/show"
	"github.com/ptxdsl/ptxdsl/isa"
)

func main() {
	word := flag.String("type", "f32", "f32, f16 or bf16")
	cols := flag.Int("cols", 4096, "elements of a row")
	show.Main("softmax", "sm_90", func(m *dsl.Module) {
		t, ok := isa.ParseType("." + *word)
		show.Want(ok && (t == isa.F32 || t == isa.F16 || t == isa.Bf16), "no softmax of %q; f32, f16 and bf16 are known", *word)
		softmax.Build(m, t, *cols)
	}, softmax.Check)
}
