// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	sparse "github.com/ptxdsl/ptxdsl/examples/14_matmul_sparse"
	"github.com/ptxdsl/ptxdsl/internal/show"
)

func main() {
	t := show.Type(sparse.Types...)
	show.Main("matmul_sparse", "sm_80", func(m *dsl.Module) {
		sparse.Build(m, *t, sparse.Default)
	}, sparse.Check)
}
