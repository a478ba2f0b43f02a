// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	transpose "github.com/ptxdsl/ptxdsl/examples/03_transpose"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("transpose", "sm_90", transpose.Build, transpose.Check) }
