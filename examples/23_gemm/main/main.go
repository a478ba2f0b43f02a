// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernels that copy and convert, or runs the example.
package main

import (
	gemm "github.com/ptxdsl/ptxdsl/examples/23_gemm"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("gemm", "sm_80", gemm.Build, gemm.Check) }
