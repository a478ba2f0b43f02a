// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	saxpy "github.com/ptxdsl/ptxdsl/examples/02_saxpy"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("saxpy", "sm_90", saxpy.Build, saxpy.Check) }
