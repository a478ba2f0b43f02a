// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	grouped "github.com/ptxdsl/ptxdsl/examples/21_matmul_grouped"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	kernelcmd.Main("matmul_grouped", "sm_90a",
		func(m *dsl.Module) { grouped.Build(m, grouped.Large) }, grouped.Check)
}
