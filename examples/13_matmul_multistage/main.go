// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 13_matmul_multistage multiplies matrices on the tensor cores of sm_80, in every type that they know.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

func main() {
	word := flag.String("type", "f16", "f16, bf16, tf32, s8 or f64")
	target := flag.String("target", "sm_80", "target")
	flag.Parse()
	t, _ := isa.ParseType("." + *word)
	tiling, ok := Default[t]
	if !ok {
		fmt.Fprintf(os.Stderr, "no multiplication of %q\n", *word)
		os.Exit(2)
	}
	m := dsl.New("matmul_"+*word, *target)
	Build(m, t, tiling)
	text, err := m.Text()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}
