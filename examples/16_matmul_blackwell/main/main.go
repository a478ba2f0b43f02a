// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	blackwell "github.com/ptxdsl/ptxdsl/examples/16_matmul_blackwell"
	"github.com/ptxdsl/ptxdsl/internal/show"
)

func main() {
	show.Main("matmul_blackwell", "sm_100a", func(m *dsl.Module) { blackwell.Build(m, blackwell.Default) }, nil)
}
