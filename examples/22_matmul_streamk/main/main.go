// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	streamk "github.com/ptxdsl/ptxdsl/examples/22_matmul_streamk"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	kernelcmd.Main("matmul_streamk", "sm_90a",
		func(m *dsl.Module) { streamk.Build(m, streamk.Wide) }, streamk.Check)
}
