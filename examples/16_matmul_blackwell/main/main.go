// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	blackwell "github.com/ptxdsl/ptxdsl/examples/16_matmul_blackwell"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	dynamic := flag.Bool("dynamic", false,
		"blocks get their tiles from the hardware, one after the other")
	pair := flag.Bool("pair", false, "two blocks work as one")
	typ := kernelcmd.OneOf("type", "type of the elements of A and B", isa.Type.String,
		blackwell.Types...)
	kernelcmd.Main("matmul_blackwell", "sm_100a", func(m *dsl.Module) {
		t := blackwell.DefaultOf(*typ, *pair)
		t.Dynamic = *dynamic
		blackwell.Build(m, t)
	}, blackwell.Check)
}
