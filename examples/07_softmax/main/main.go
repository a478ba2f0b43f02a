// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of the kernel, or runs it.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	softmax "github.com/ptxdsl/ptxdsl/examples/07_softmax"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	t := kernelcmd.Type(isa.F32, isa.F16, isa.Bf16)
	cols := flag.Int("cols", 4096, "elements of a row")
	kernelcmd.Main("softmax", "sm_90", func(m *dsl.Module) {
		softmax.Build(m, *t, *cols)
	}, softmax.Check)
}
