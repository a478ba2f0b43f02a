// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	blockscaled "github.com/ptxdsl/ptxdsl/examples/17_matmul_blockscaled"
	"github.com/ptxdsl/ptxdsl/internal/show"
)

func main() {
	pair := flag.Bool("pair", false, "two blocks work as one")
	name := flag.String("format", "nvfp4", "nvfp4, mxfp4 or mxfp8")
	show.Main("matmul_blockscaled", "sm_100a", func(m *dsl.Module) {
		known := false
		for _, f := range []blockscaled.Format{blockscaled.NVFP4, blockscaled.MXFP4, blockscaled.MXFP8} {
			if f.Name != *name {
				continue
			}
			known = true
			t := blockscaled.Default
			if t.Pair = *pair; t.Pair {
				t.N = 256
				t.Stages = 3
			}
			blockscaled.Build(m, f, t)
		}
		show.Want(known, "no format %q; nvfp4, mxfp4 and mxfp8 are known", *name)
	}, nil)
}
