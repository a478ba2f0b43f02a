// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 17_matmul_blockscaled multiplies matrices of a block-scaled format (nvfp4, mxfp4, mxfp8) with tcgen05.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/ptxdsl/ptxdsl/dsl"
)

func main() {
	pair := flag.Bool("pair", false, "two blocks work as one")
	name := flag.String("format", "nvfp4", "nvfp4, mxfp4 or mxfp8")
	flag.Parse()
	for _, f := range []Format{NVFP4, MXFP4, MXFP8} {
		if f.Name != *name {
			continue
		}
		m := dsl.New("matmul_"+f.Name, "sm_100a")
		t := Default
		if t.Pair = *pair; t.Pair {
			t.N = 256
			t.Stages = 3
		}
		Build(m, f, t)
		text, err := m.Text()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Print(text)
		return
	}
	fmt.Fprintf(os.Stderr, "no format %q; nvfp4, mxfp4 and mxfp8 are known\n", *name)
	os.Exit(2)
}
