// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs the example.
package main

import (
	moe "github.com/ptxdsl/ptxdsl/examples/26_moe"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("moe_swiglu", "sm_90a", moe.Build, moe.Check) }
