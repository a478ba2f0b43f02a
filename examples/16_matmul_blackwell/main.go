// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command 16_matmul_blackwell multiplies matrices of bfloat16 with tcgen05.
package main

import (
	"fmt"
	"os"

	"github.com/ptxdsl/ptxdsl/dsl"
)

func main() {
	m := dsl.New("matmul_blackwell", "sm_100a")
	Build(m, Default)
	text, err := m.Text()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}
