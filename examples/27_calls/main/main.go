// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel that copies a matrix, or runs the example.
package main

import (
	calls "github.com/ptxdsl/ptxdsl/examples/27_calls"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("resize", "sm_80", calls.Build, calls.Check) }
