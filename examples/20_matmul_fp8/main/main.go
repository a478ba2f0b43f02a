// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs the example.
package main

import (
	fp8 "github.com/ptxdsl/ptxdsl/examples/20_matmul_fp8"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	kernelcmd.Main("matmul_fp8", "sm_90a", fp8.Build, fp8.Check)
}
