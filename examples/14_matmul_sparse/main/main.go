// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	sparse "github.com/ptxdsl/ptxdsl/examples/14_matmul_sparse"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	t := kernelcmd.Type(sparse.Types...)
	kernelcmd.Main("matmul_sparse", "sm_80", func(m *dsl.Module) {
		sparse.Build(m, *t, sparse.Default)
	}, sparse.Check)
}
