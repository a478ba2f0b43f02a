// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 15_matmul_hopper multiplies matrices of bfloat16 with wgmma, as fast as the machine can.
package main

import (
	"fmt"
	"os"

	"github.com/ptxdsl/ptxdsl/dsl"
)

func main() {
	m := dsl.New("matmul_hopper", "sm_90a")
	Build(m, Default)
	text, err := m.Text()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}
