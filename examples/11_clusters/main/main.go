// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernels, or runs them.
package main

import (
	clusters "github.com/ptxdsl/ptxdsl/examples/11_clusters"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() { kernelcmd.Main("clusters", "sm_90", clusters.Build, clusters.Check) }
