// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	reduce "github.com/ptxdsl/ptxdsl/examples/04_reduce"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("reduce", "sm_90", reduce.Build, reduce.Check) }
