// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	splitk "github.com/ptxdsl/ptxdsl/examples/12_matmul_splitk"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	kernelcmd.Main("matmul_splitk", "sm_90",
		func(m *dsl.Module) { splitk.Build(m, splitk.Default) }, splitk.Check)
}
