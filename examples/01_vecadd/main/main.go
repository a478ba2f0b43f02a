// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	vecadd "github.com/ptxdsl/ptxdsl/examples/01_vecadd"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("vecadd", "sm_90", vecadd.Build, vecadd.Check) }
