// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	multistage "github.com/ptxdsl/ptxdsl/examples/13_matmul_multistage"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	t := kernelcmd.Type(multistage.Types...)
	kernelcmd.Main("matmul_multistage", "sm_80", func(m *dsl.Module) {
		multistage.Build(m, *t, multistage.Default(*t))
	}, multistage.Check)
}
