// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command main prints the PTX of a kernel, or runs the example.
package main

import (
	"flag"

	"github.com/ptxdsl/ptxdsl/dsl"
	blockscaled "github.com/ptxdsl/ptxdsl/examples/17_matmul_blockscaled"
	"github.com/ptxdsl/ptxdsl/runtime/kernelcmd"
)

func main() {
	pair := flag.Bool("pair", false, "two blocks work as one")
	sync := flag.Bool("sync", false, "with mma.sync, for sm_120a")
	f := kernelcmd.OneOf("format", "format of the numbers", func(f blockscaled.Format) string {
		return f.Name
	}, blockscaled.Formats...)
	kernelcmd.Main("matmul_blockscaled", "sm_100a", func(m *dsl.Module) {
		if *sync {
			blockscaled.BuildSync(m, *f, f.SyncDefault())
			return
		}
		blockscaled.Build(m, *f, f.Default(*pair))
	}, blockscaled.Check)
}
