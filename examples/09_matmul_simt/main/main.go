// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	simt "github.com/ptxdsl/ptxdsl/examples/09_matmul_simt"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("matmul_simt", "sm_90", simt.Build, simt.Check) }
