// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	sparse "github.com/ptxdsl/ptxdsl/examples/14_matmul_sparse"
	"github.com/ptxdsl/ptxdsl/internal/show"
	"github.com/ptxdsl/ptxdsl/isa"
)

func main() {
	word := flag.String("type", "f16", "f16, bf16, s8 or e4m3")
	show.Main("matmul_sparse", "sm_80", func(m *dsl.Module) {
		t, _ := isa.ParseType("." + *word)
		known := t == isa.F16 || t == isa.Bf16 || t == isa.S8 || t == isa.E4m3
		show.Want(known, "no sparse multiplication of %q; f16, bf16, s8 and e4m3 are known", *word)
		sparse.Build(m, t, sparse.Default)
	}, sparse.Check)
}
