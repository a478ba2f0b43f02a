// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	kernelcmd.Main("matmul_hopper", "sm_90a",
		func(m *dsl.Module) { hopper.Build(m, hopper.Default) }, hopper.Check)
}
