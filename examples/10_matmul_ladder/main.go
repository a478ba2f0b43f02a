// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 10_matmul_ladder multiplies matrices of bfloat16 with mma.sync, in three steps: copies by cp.async, by the TMA, and by a warp of
// their own.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// versions are the steps of the ladder.
var versions = []func(*dsl.Module, Tiling){V0, V1, V2}

func main() {
	version := flag.Int("version", 0, "0 (cp.async), 1 (TMA) or 2 (warp-specialised)")
	target := flag.String("target", "sm_120a", "target; versions 1 and 2 need sm_90 or later")
	swizzle := flag.Int("swizzle", 128, "bytes of the swizzle: 32, 64 or 128; a tile is as deep as it is wide")
	flag.Parse()
	if *version < 0 || *version >= len(versions) {
		fmt.Fprintf(os.Stderr, "no version %d\n", *version)
		os.Exit(2)
	}
	t := Default
	t.Swizzle = dsl.Swizzle(*swizzle)
	t.K = *swizzle / 2
	m := dsl.New(fmt.Sprintf("matmul_v%d", *version), *target)
	versions[*version](m, t)
	text, err := m.Text()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}
