// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	topk "github.com/ptxdsl/ptxdsl/examples/25_topk"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	t := kernelcmd.Type(isa.F32, isa.F16, isa.Bf16)
	count := flag.Int("k", 50, "number of elements of a row, up to 256")
	kernelcmd.Main("topk", "sm_80", func(m *dsl.Module) { topk.Build(m, *t, *count) }, topk.Check)
}
