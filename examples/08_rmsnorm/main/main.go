// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	t := kernelcmd.Type(isa.Bf16, isa.F32, isa.F16)
	hidden := flag.Int("hidden", 4096, "elements of a row")
	kernelcmd.Main("rmsnorm", "sm_90", func(m *dsl.Module) {
		rmsnorm.Build(m, *t, *hidden)
	}, rmsnorm.Check)
}
