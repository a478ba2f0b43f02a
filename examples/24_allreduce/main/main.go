// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel for BF16, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	allreduce "github.com/ptxdsl/ptxdsl/examples/24_allreduce"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	kernelcmd.Main("allreduce", "sm_90", func(m *dsl.Module) { allreduce.Build(m, isa.Bf16) },
		allreduce.Check)
}
