// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	histogram "github.com/ptxdsl/ptxdsl/examples/06_histogram"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("histogram", "sm_90", histogram.Build, histogram.Check) }
