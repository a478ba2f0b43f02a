// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernels, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	w4a16 "github.com/ptxdsl/ptxdsl/examples/19_matmul_w4a16"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	kernelcmd.Main("matmul_w4a16", "sm_80", func(m *dsl.Module) {
		w4a16.Build(m)
		w4a16.BuildFew(m)
	}, w4a16.Check)
}
